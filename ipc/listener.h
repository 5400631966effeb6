// SPDX-License-Identifier: MIT
// The server's place in the file system: a listening socket at our path. The
// server checks now and then that the socket is still there, and binds it again
// if somebody has removed it. Only the server's thread calls these functions,
// unless a comment says otherwise.
#ifndef OCULAR_IPC_LISTENER_H
#define OCULAR_IPC_LISTENER_H

#include "ipc/address.h"
#include "ipc/base/opened.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// A path is kept until the end, because Listener_path() has returned it.
struct ListenerPath {
    struct ListenerPath *older;
    char text[ADDRESS_MAX];
};

struct Listener {
    atomic_int fd; // -1: none; atomic, since a fork may happen at any moment
    pid_t pid;     // the process that the socket belongs to
    // Inotify, readable if the path may have vanished; -1: none.
    atomic_int watch;
    bool watched; // the socket and its directory are both watched
    struct Opened opened, watching; // the files of fd and watch
    dev_t device;                   // with inode: the file of our socket
    ino_t inode;
    uid_t user; // effective user when the socket was bound
    _Atomic(struct ListenerPath *) path;
};

// Binds a socket to this process's address. A live socket of another process,
// or any other file there, is left alone. Returns 0 or -errno with `why` in
// words. Call this before the server's thread starts.
int Listener_open(struct Listener *listener, char *why, size_t why_size);
const char *Listener_path(const struct Listener *listener); // any thread
// Binds the socket again, if possible, after somebody has removed it (logind, a
// cleaner of /tmp). Returns whether the socket is in its place and `watch` will
// report if it vanishes.
bool Listener_check(struct Listener *listener);
// Says that the process ends: a socket that vanishes from now on is not bound
// again. Any thread and any signal handler may call this.
void Listener_stay_away(void);
// Forgets the descriptors that are not ours any more, and returns whether there
// were any. The next Listener_check opens others. `others` says that the
// program has closed other descriptors of ours. With `others` the watch counts
// as lost, too, because an eventfd of the program looks the same. If the watch
// was not lost, its descriptor is leaked.
bool Listener_forget_lost(struct Listener *listener, bool others);
// Touches the watched socket, so that a thread that polls `watch` wakes up. The
// thread wakes up even if its descriptor was closed meanwhile, since poll()
// keeps the file open. Any thread may call this.
void Listener_touch(const struct Listener *listener);
// Stops listening and removes the socket if it is still ours. As Listener_open
// does, this function also removes sockets whose process is gone.
void Listener_leave(struct Listener *listener);
// Closes the descriptors in a forked child, but removes no file.
void Listener_abandon(struct Listener *listener);
void Listener_release(struct Listener *listener); // frees the paths, at the end

#endif
