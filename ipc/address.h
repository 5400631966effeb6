// SPDX-License-Identifier: MIT
// The address of a traced process: the directory rules of docs/protocol.md, the
// checks that keep other users out, and the list of processes that serve. Any
// thread; no state.
#ifndef OCULAR_IPC_ADDRESS_H
#define OCULAR_IPC_ADDRESS_H

#include "ipc/socket.h"

#include <stddef.h>
#include <sys/types.h>

// The directory this process serves from: $OCULAR_DIR, else
// $XDG_RUNTIME_DIR/ocular, else /tmp/ocular-UID. Made 0700 if it is missing.
// Refused (-EPERM, -ENOTDIR, -ELOOP, -ENAMETOOLONG...) unless it is a real
// directory, owned by us, with no rights for others; `why` says so in words
// and what to do.
int Address_prepare(char path[ADDRESS_MAX], pid_t pid, char *why,
                    size_t why_size);

// The directory of a path that has vanished, made again by the same rules (the
// environment is not read again, so any thread may call). If that is not
// allowed any more, path becomes one in /tmp/ocular-UID. 0 or -errno.
int Address_restore(char path[ADDRESS_MAX], pid_t pid);

// One process that serves, as found in a directory.
struct Served {
    pid_t pid;
    uid_t uid;
    char path[ADDRESS_MAX];
    char command[256]; // /proc/PID/cmdline, spaces between, made printable
};

// The socket of one process: tries every place for the target's uid, then what
// /proc/PID/environ says, then /proc/PID/root/... -ESRCH: no such process;
// -ENOENT: it does not serve; -EACCES: another user's.
int Address_find(struct Served *found, pid_t pid, char *why, size_t why_size);

// Every process that serves and that we may talk to, by pid (in $OCULAR_DIR
// only, if that is set); stale sockets
// (no such process, or nobody listens) are removed if they are ours.
// *list is malloc'ed, count returned, or -errno.
long Address_list(struct Served **list);

// Removes the sockets beside this one that processes have left which ended
// without a word (SIGKILL, os._exit). Makes no other process wake up.
void Address_sweep(const char *path);

#endif
