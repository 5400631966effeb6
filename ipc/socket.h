// SPDX-License-Identifier: MIT
// Makes and uses Unix stream sockets. Every socket is non-blocking and
// close-on-exec. No function of socket.h raises SIGPIPE. Any thread may call
// these functions, because they keep no state.
#pragma once

#include <stddef.h>
#include <sys/types.h>

// Size of sun_path, which holds a socket's path with its NUL.
#define ADDRESS_MAX 108

// The process at the other end of a connection, as the kernel reports it.
struct Peer {
    // Process id; 0 if the process is not visible from this pid namespace.
    pid_t pid;
    uid_t uid;
};

// Makes a listening socket at `path`. The socket's mode is 0600, whatever the
// umask is. Atomically replaces a file at `path`, if there is one. The caller
// must have checked that the file may be replaced. No client can connect before
// the socket is listening. Returns a descriptor or -errno.
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
// descriptor (SCM_RIGHTS). The receiver gets the copy of the descriptor with
// the first of the bytes. The receiver owns *passed, which is 3 or more and is
// closed on exec. If no descriptor arrived, *passed is 0. If several
// descriptors arrived, all of them are closed and *passed is 0.
long Socket_send_file(int fd, const void *data, size_t size, int passed);
long Socket_receive_file(int fd, void *data, size_t size, int *passed);
