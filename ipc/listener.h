// SPDX-License-Identifier: MIT
// The server's place in the file system: a listening socket at a path that is
// ours, looked at now and then, and taken again when somebody has cleaned up.
// The server's thread only, except where it says otherwise.
#ifndef OCULAR_IPC_LISTENER_H
#define OCULAR_IPC_LISTENER_H

#include "ipc/address.h"
#include "ipc/base/opened.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// Paths are kept until the end: Listener_path() hands them out.
struct ListenerPath {
    struct ListenerPath *older;
    char text[ADDRESS_MAX];
};

struct Listener {
    atomic_int fd;    // -1: none; atomic for a fork at any moment
    pid_t pid;        // whose socket it is
    atomic_int watch; // inotify, readable when the path may have vanished; -1
    bool watched;     // both the socket and its directory are
    struct Opened opened, watching; // fd and watch
    dev_t device; // of the socket's inode, to see that it is still ours
    ino_t inode;
    uid_t user; // effective, when it was bound
    _Atomic(struct ListenerPath *) path;
};

// Binds to this process's address. A live socket of another process, and any
// other file, is left alone. 0 or -errno with `why` in words. Before the
// thread.
int Listener_open(struct Listener *listener, char *why, size_t why_size);
const char *Listener_path(const struct Listener *listener); // any thread
// Binds again, if it can, when somebody has cleaned up (logind, a tmp cleaner).
// True: the socket is in its place, and `watch` will report it if it vanishes.
bool Listener_check(struct Listener *listener);
// The process is at its end: a socket that vanishes is not made again. Any
// thread; a signal's handler may call it.
void Listener_stay_away(void);
// Forgets descriptors that are not ours any more: true, there was one. The next
// check makes others. `others`: the program has closed some of ours. Then the
// watch counts as lost, too, since it looks like an eventfd of the program. If
// it was not lost, its descriptor is left behind.
bool Listener_forget_lost(struct Listener *listener, bool others);
// Touches the watched socket: a thread that polls `watch` wakes up, even if its
// number has been closed meanwhile (poll keeps the file). Any thread.
void Listener_touch(const struct Listener *listener);
// Stops listening and removes the socket if it is still ours, and those of
// processes that are not there any more: opening does that, too.
void Listener_leave(struct Listener *listener);
// In a forked child: forgets the descriptor, removes nothing.
void Listener_abandon(struct Listener *listener);
void Listener_release(struct Listener *listener); // the memory, at the end

#endif
