// SPDX-License-Identifier: MIT
// Chooses the path of a process's socket by the rules of docs/protocol.md, and
// checks that other users have no access to it. Also lists the processes that
// serve. Any thread may call these functions, because they keep no state.
#pragma once

#include "ipc/socket.h"

#include <stddef.h>
#include <sys/types.h>

// Sets `path` to the path of this process's socket. The socket is in
// $OCULAR_DIR, or in $XDG_RUNTIME_DIR/ocular, or in /tmp/ocular-UID. If the
// directory of the socket is missing, makes it with mode 0700. Returns 0 if it
// is a real directory which the process's user owns, and in which other users
// have no rights. For any other directory, returns -errno (-EPERM, -ENOTDIR,
// -ELOOP, -ENAMETOOLONG...). After an error `why` says what is wrong and what
// the user can do.
int Address_prepare(char path[ADDRESS_MAX], pid_t pid, char *why,
                    size_t why_size);

// If the directory of `path` is gone, makes it again, as Address_prepare does.
// If this process may no longer make the old directory, changes `path` to a
// path in /tmp/ocular-UID. Returns 0 or -errno. Any thread may call this
// function, because it does not read environment variables.
int Address_restore(char path[ADDRESS_MAX], pid_t pid);

// A process that serves, and its socket.
struct Served {
    pid_t pid;
    uid_t uid;
    char path[ADDRESS_MAX];
    // /proc/PID/cmdline as printable text, with spaces between the arguments.
    char command[256];
};

// Finds the socket of one process. Searches for the socket in the directories
// that the caller's environment names, the usual directories of the process's
// user, and the directories that /proc/PID/environ names. The usual directories
// and those of /proc/PID/environ are also searched below /proc/PID/root.
// Returns 0, -ESRCH if there is no such process, -ENOENT if the process does
// not serve, or -EACCES if the process belongs to another user.
int Address_find(struct Served *found, pid_t pid, char *why, size_t why_size);

// Lists all processes that serve and to which the caller's user may connect,
// sorted by pid. If $OCULAR_DIR is set, searches for sockets only in that
// directory. Removes the user's own sockets at which no process listens any
// more. Returns the number of processes, or -errno. *list is allocated by
// malloc().
long Address_list(struct Served **list);

// Removes the sockets in the directory of `path` whose processes were killed
// (SIGKILL, os._exit). Address_sweep does not wake any other process.
void Address_sweep(const char *path);
