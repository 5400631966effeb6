// SPDX-License-Identifier: MIT
// Implements the rules of docs/protocol.md for the path of a process's socket,
// checks that other users have no access to it, and lists the processes that
// serve. Any thread may call these functions, which keep no state.
#ifndef OCULAR_IPC_ADDRESS_H
#define OCULAR_IPC_ADDRESS_H

#include "ipc/socket.h"

#include <stddef.h>
#include <sys/types.h>

// Sets path to the socket's path in the directory that this process serves
// from: $OCULAR_DIR, else $XDG_RUNTIME_DIR/ocular, else /tmp/ocular-UID. Makes
// the directory with mode 0700 if it is missing. Returns 0 if this is a real
// directory that our user owns and that gives other users no rights. Otherwise
// returns -errno (-EPERM, -ENOTDIR, -ELOOP, -ENAMETOOLONG...). After an error
// `why` says what is wrong and what the user can do.
int Address_prepare(char path[ADDRESS_MAX], pid_t pid, char *why,
                    size_t why_size);

// If the directory of path has vanished, makes it again, as Address_prepare
// does. Any thread may call this function, because it does not read the
// environment. If the old directory is not allowed any more, path is changed to
// a path in /tmp/ocular-UID. Returns 0 or -errno.
int Address_restore(char path[ADDRESS_MAX], pid_t pid);

// A process that serves, found by its socket in a directory.
struct Served {
    pid_t pid;
    uid_t uid;
    char path[ADDRESS_MAX];
    // /proc/PID/cmdline, printable, with spaces between arguments.
    char command[256];
};

// Finds the socket of one process. The function tries the directories that our
// environment names, the usual directories of the process's user, and the
// directories that /proc/PID/environ names. Then the function tries the last
// two kinds of directories again, with /proc/PID/root before the paths. Returns
// 0, -ESRCH if there is no such process, -ENOENT if the process does not serve,
// or -EACCES if the process belongs to another user.
int Address_find(struct Served *found, pid_t pid, char *why, size_t why_size);

// Lists every process that serves and that we may talk to, sorted by pid. If
// $OCULAR_DIR is set, only that directory is searched. Removes our own sockets
// at which no process listens any more. Returns the count or -errno; *list is
// allocated by malloc().
long Address_list(struct Served **list);

// Removes the sockets in the directory of path that belong to processes which
// were killed (SIGKILL, os._exit). The function wakes no other process.
void Address_sweep(const char *path);

#endif
