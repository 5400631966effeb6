// SPDX-License-Identifier: MIT
// The address of a traced process: the directory rules of docs/protocol.md, the
// checks that keep other users out, and the list of the processes that serve.
// Any thread may call these functions; they keep no state.
#ifndef OCULAR_IPC_ADDRESS_H
#define OCULAR_IPC_ADDRESS_H

#include "ipc/socket.h"

#include <stddef.h>
#include <sys/types.h>

// Sets path to the socket's path in the directory that this process serves
// from: $OCULAR_DIR, else $XDG_RUNTIME_DIR/ocular, else /tmp/ocular-UID. Makes
// the directory with mode 0700 if it is missing. Returns 0, or -errno (-EPERM,
// -ENOTDIR, -ELOOP, -ENAMETOOLONG...) unless this is a real directory that is
// owned by us and gives others no rights. On an error, `why` says what is wrong
// and what the user can do.
int Address_prepare(char path[ADDRESS_MAX], pid_t pid, char *why,
                    size_t why_size);

// Makes the directory of path again by the same rules after that directory has
// vanished. The function does not read the environment, so any thread may call
// it. If the rules forbid the old directory by now, path is changed to one in
// /tmp/ocular-UID. Returns 0 or -errno.
int Address_restore(char path[ADDRESS_MAX], pid_t pid);

// One process that serves, as it was found in a directory.
struct Served {
    pid_t pid;
    uid_t uid;
    char path[ADDRESS_MAX];
    // /proc/PID/cmdline, printable, with spaces between arguments.
    char command[256];
};

// Finds the socket of one process. The function tries the directories that our
// environment names, the usual directories of the process's user, those that
// /proc/PID/environ names, and then both of these below /proc/PID/root. Returns
// 0, -ESRCH if there is no such process, -ENOENT if the process does not serve,
// or -EACCES if it belongs to another user.
int Address_find(struct Served *found, pid_t pid, char *why, size_t why_size);

// Lists every process that serves and that we may talk to, sorted by pid. If
// $OCULAR_DIR is set, only that directory is searched. Removes our own stale
// sockets (the process is gone, or nobody listens). Returns the count or
// -errno; *list is allocated by malloc().
long Address_list(struct Served **list);

// Removes the sockets in the directory of path that belong to processes which
// were killed (SIGKILL, os._exit). The function wakes no other process.
void Address_sweep(const char *path);

#endif
