// SPDX-License-Identifier: MIT
// struct Listener is the server's listening socket and its path in the file
// system. The server checks every two seconds whether the socket is still
// there, and binds it again if another program has removed it. Only the
// server's thread may call these functions, except those whose comment says
// otherwise.
#pragma once

#include "ipc/address.h"
#include "ipc/base/opened.h"

#include <stdatomic.h>
#include <stdbool.h>

// A path that the socket has or had. A path is not freed before
// Listener_release(), because a caller of Listener_path() may still use it.
struct ListenerPath {
    struct ListenerPath *older;
    char text[ADDRESS_MAX];
};

struct Listener {
    // Descriptor of the socket, or -1. `fd` is atomic, because a fork may
    // happen at any time.
    atomic_int fd;
    pid_t pid; // The process that owns the socket.
    // An inotify descriptor, or -1. The inotify descriptor becomes readable if
    // the socket's path may be gone.
    atomic_int watch;
    bool watched; // True if the socket and its directory are both watched.
    // The files for which the descriptors `fd` and `watch` were opened.
    struct Opened opened, watching;
    // The device and the inode of the socket's file, which identify it.
    dev_t device;
    ino_t inode;
    uid_t user; // Id of the effective user when the socket was bound.
    _Atomic(struct ListenerPath *) path;
};

// Binds a socket to this process's address. Fails if another process listens at
// this address, or if a file of another type is there. Returns 0 or -errno.
// After an error `why` has an explanation. Must be called before the server's
// thread starts.
int Listener_open(struct Listener *listener, char *why, size_t why_size);
// Any thread may call this function.
const char *Listener_path(const struct Listener *listener);
// Binds the socket again if another program (logind, a cleaner of /tmp) has
// removed it. Returns true if the socket is in its place and its removal will
// be reported through `watch`.
bool Listener_check(struct Listener *listener);
// Notes that the process will end soon. After Listener_stay_away,
// Listener_check does not bind a vanished socket again. Any thread and any
// signal handler may call this function.
void Listener_stay_away(void);
// Forgets those of the listener's descriptors that the program has closed.
// Returns true if the program has closed one of the listener's descriptors. The
// next Listener_check opens new descriptors. `others` is true if the program
// has also closed other descriptors of Ocular. If `others` is true, the watch
// counts as lost, because an eventfd of the program could have the same number
// and the same inode. If the watch was not lost, its descriptor is leaked.
bool Listener_forget_lost(struct Listener *listener, bool others);
// Touches the watched socket, which wakes the thread that polls `watch`. The
// touch works even if the program has closed the descriptor `watch`, because
// poll() keeps the inotify open. Any thread may call this function.
void Listener_touch(const struct Listener *listener);
// Stops listening. Removes the server's socket, and the sockets of processes
// that no longer exist.
void Listener_leave(struct Listener *listener);
// Closes the listener's descriptors in a forked child, but removes no file.
void Listener_abandon(struct Listener *listener);
// Frees the listener's paths when the server ends.
void Listener_release(struct Listener *listener);
