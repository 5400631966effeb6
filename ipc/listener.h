// SPDX-License-Identifier: MIT
// A listener is the server's listening socket in the file system. The server
// checks every two seconds whether the socket is still there, and binds the
// socket again if another program has removed it. Only the server's thread
// calls these functions, unless a comment names other threads.
#ifndef OCULAR_IPC_LISTENER_H
#define OCULAR_IPC_LISTENER_H

#include "ipc/address.h"
#include "ipc/base/opened.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// Holds the path of a socket. A path is not freed before Listener_release(),
// because a caller of Listener_path() may still use the path.
struct ListenerPath {
    struct ListenerPath *older;
    char text[ADDRESS_MAX];
};

struct Listener {
    atomic_int fd; // -1: none; atomic, since a fork may happen at any moment
    pid_t pid;     // the process that the socket belongs to
    // An inotify descriptor, which is readable if the path may have vanished;
    // -1: no descriptor.
    atomic_int watch;
    bool watched; // the socket and its directory are both watched
    struct Opened opened, watching; // the files of fd and watch
    // Device and inode identify our socket's file.
    dev_t device;
    ino_t inode;
    uid_t user; // effective user when the socket was bound
    _Atomic(struct ListenerPath *) path;
};

// Binds a socket to this process's address. Fails if another process listens at
// this address, or if a file of another type is there. Returns 0 or -errno.
// After an error `why` has an explanation. Must be called before the server's
// thread starts.
int Listener_open(struct Listener *listener, char *why, size_t why_size);
const char *Listener_path(const struct Listener *listener); // any thread
// Binds the socket again if another program (logind, a cleaner of /tmp) has
// removed it. Returns whether the socket is in its place and `watch` will
// report its removal.
bool Listener_check(struct Listener *listener);
// Says that the process ends. After this call Listener_check does not bind a
// vanished socket again. Any thread and any signal handler may call this
// function.
void Listener_stay_away(void);
// Forgets the descriptors that the program has closed. Returns true if there
// were any. The next Listener_check opens new descriptors. `others` is true if
// the program has closed other descriptors of ours. Then the watch counts as
// lost, because an eventfd of the program would have the same inode as the
// watch. If the program has not closed the watch, its descriptor is leaked.
bool Listener_forget_lost(struct Listener *listener, bool others);
// Touches the watched socket, so that the thread that polls `watch` wakes up.
// The thread wakes up even if the program has closed the descriptor `watch`,
// because poll() keeps the inotify open. Any thread may call this function.
void Listener_touch(const struct Listener *listener);
// Stops listening. Removes our socket, and the sockets of processes that are
// gone.
void Listener_leave(struct Listener *listener);
// Closes the descriptors in a forked child, but removes no file.
void Listener_abandon(struct Listener *listener);
void Listener_release(struct Listener *listener); // frees the paths, at the end

#endif
