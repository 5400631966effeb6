// SPDX-License-Identifier: MIT
// Unix stream sockets, and nothing else: the one file that knows the socket
// API. Every descriptor is non-blocking and close-on-exec; nothing raises
// SIGPIPE. Any thread, no state.
#ifndef OCULAR_IPC_SOCKET_H
#define OCULAR_IPC_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

#define ADDRESS_MAX 108 // bytes of a path: sun_path, with its NUL

// The process at the other end, as the kernel knows it.
struct Peer {
    pid_t pid; // 0: not visible from our pid namespace
    uid_t uid;
};

// A listening socket at path, mode 0600 whatever the umask. It replaces any
// file there at once (the caller has checked), and no client can ever connect
// to a socket that does not listen yet. A descriptor or -errno.
int Socket_listen(const char *path);
// The next client that waits: a descriptor, -EAGAIN if there is none, or
// -errno.
int Socket_accept(int listener, struct Peer *peer);
// A descriptor or -errno: -ECONNREFUSED nobody listens, -EAGAIN too many wait.
int Socket_connect(const char *path, struct Peer *peer);
// Two that are connected with each other: 0 or -errno.
int Socket_pair(int ends[2]);
// Bytes sent or received (0 received: the other end has closed), -EAGAIN, or
// -errno (-EPIPE, -ECONNRESET: gone).
long Socket_send(int fd, const void *data, size_t size);
long Socket_receive(int fd, void *data, size_t size);
// The same with a descriptor (SCM_RIGHTS), which the other end gets a copy of
// with the first of the bytes. Received: its own from now on, closed on exec, 3
// or more; 0: none came, or more than one, which are closed.
long Socket_send_file(int fd, const void *data, size_t size, int passed);
long Socket_receive_file(int fd, void *data, size_t size, int *passed);

#endif
