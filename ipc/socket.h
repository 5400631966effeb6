// SPDX-License-Identifier: MIT
// Makes and uses Unix stream sockets. Every socket is non-blocking and
// close-on-exec. No function of socket.h raises SIGPIPE. Any thread may call
// these functions, which keep no state.
#pragma once

#include <stddef.h>
#include <sys/types.h>

// Bytes of a socket's path with its NUL, as in sun_path.
#define ADDRESS_MAX 108

// The process at the other end of a connection, as the kernel reports it.
struct Peer {
    // Process id; 0 if the process is not visible from this pid namespace.
    pid_t pid;
    uid_t uid;
};

// Makes a listening socket at `path` with mode 0600, whatever the umask is. The
// socket replaces any file at `path` atomically. The caller has checked that
// this file may be replaced. No client can connect before the socket listens.
// Returns a descriptor or -errno.
int Socket_listen(const char *path);
// Accepts the next client of a listening socket. Returns a descriptor, -EAGAIN
// if no client waits, or another -errno.
int Socket_accept(int listener, struct Peer *peer);
// Connects to the socket at `path`. Returns a descriptor, -ECONNREFUSED if no
// process listens, -EAGAIN if the queue of connections is full, or another
// -errno.
int Socket_connect(const char *path, struct Peer *peer);
// Makes two connected sockets. Returns 0 or -errno.
int Socket_pair(int ends[2]);
// Socket_send and Socket_receive return the number of bytes, -EAGAIN, or
// another -errno. -EPIPE and -ECONNRESET mean that the other end is gone.
// Socket_receive returns 0 if the other end has closed the connection.
long Socket_send(int fd, const void *data, size_t size);
long Socket_receive(int fd, void *data, size_t size);
// Socket_send_file and Socket_receive_file transfer bytes together with a
// descriptor (SCM_RIGHTS). The receiver gets a copy of the descriptor with the
// first of the bytes. The receiver owns *passed, which is closed on exec and 3
// or more. If no descriptor came with the bytes, *passed is 0. If several
// descriptors came, all of them are closed, and *passed is 0, too.
long Socket_send_file(int fd, const void *data, size_t size, int passed);
long Socket_receive_file(int fd, void *data, size_t size, int *passed);
