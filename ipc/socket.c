// SPDX-License-Identifier: MIT
// Implements socket.h. socket.c is the only file that uses the kernel's socket
// functions. The server's thread, viewers, and address.c call these functions.
#define _GNU_SOURCE 1 // Accept4, struct ucred.
#include "ipc/socket.h"
#include "ipc/base/opened.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 64

static int open_socket(struct sockaddr_un *address, const char *path)
{
    int fd;

    memset(address, 0, sizeof(*address));
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof(address->sun_path))
        return -ENAMETOOLONG;
    memcpy(address->sun_path, path, strlen(path));
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return Opened_above(fd);
}

// Sets *peer to the process at the other end, and returns `fd`. If this fails,
// closes `fd` and returns -errno.
static int with_peer(int fd, struct Peer *peer)
{
    struct ucred cred;
    socklen_t size = sizeof(cred);
    int error;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0) {
        error = -errno;
        close(fd);
        return error;
    }
    *peer = (struct Peer){cred.pid, cred.uid};
    return fd;
}

static int bind_and_listen(int fd, const struct sockaddr_un *address,
                           const char *path)
{
    const char *temporary = address->sun_path;

    if (unlink(temporary) < 0 && errno != ENOENT)
        return -errno;
    if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
        return -errno;
    // chmod() sets the mode, because the traced program may change its umask at
    // any time. Before the chmod() no other user can open the path, because
    // only this process's user may enter the directory.
    if (chmod(temporary, 0600) == 0 && listen(fd, BACKLOG) == 0 &&
        rename(temporary, path) == 0)
        return 0;
    return -errno;
}

int Socket_listen(const char *path)
{
    struct sockaddr_un address;
    size_t length = strlen(path);
    int fd = open_socket(&address, path);
    int error;

    if (fd < 0)
        return fd;
    // The socket PID.sock is first bound as PID.soc~. PID.sock and PID.soc~
    // have the same length, so the path fits. address.c does not list PID.soc~.
    address.sun_path[length - 1] = '~';
    error = bind_and_listen(fd, &address, path);
    if (error) {
        unlink(address.sun_path);
        close(fd);
        return error;
    }
    return fd;
}

int Socket_accept(int listener, struct Peer *peer)
{
    int fd;

    do
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
    fd = Opened_above(fd);
    return fd < 0 ? fd : with_peer(fd, peer);
}

int Socket_connect(const char *path, struct Peer *peer)
{
    struct sockaddr_un address;
    int fd = open_socket(&address, path), error;

    if (fd < 0)
        return fd;
    while (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        if (errno == EINTR)
            continue;
        error = -errno;
        close(fd);
        return error;
    }
    return with_peer(fd, peer);
}

int Socket_pair(int ends[2])
{
    int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, error;

    if (socketpair(AF_UNIX, type, 0, ends) < 0)
        return -errno;
    ends[0] = Opened_above(ends[0]);
    ends[1] = Opened_above(ends[1]);
    if (ends[0] >= 0 && ends[1] >= 0)
        return 0;
    error = ends[0] < 0 ? ends[0] : ends[1];
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    return error;
}

long Socket_send(int fd, const void *data, size_t size)
{
    ssize_t sent;

    do
        sent = send(fd, data, size, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

long Socket_receive(int fd, void *data, size_t size)
{
    ssize_t got;

    do
        got = recv(fd, data, size, 0);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

// --- Descriptors

// Memory for a control message with one descriptor. If a message contains more
// descriptors, the kernel closes the others.
union Passed {
    // Makes the compiler align `bytes` as a struct cmsghdr.
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

long Socket_send_file(int fd, const void *data, size_t size, int passed)
{
    union Passed control = {.bytes = ""};
    struct iovec part = {(void *)(uintptr_t)data, size};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    ssize_t sent;

    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &passed, sizeof(int));
    do
        sent = sendmsg(fd, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

// Returns the descriptor that came with a message, or 0. A control message may
// contain two descriptors, because the alignment leaves room for a second one.
static int take_passed(struct msghdr *message)
{
    struct cmsghdr *head = CMSG_FIRSTHDR(message);
    int found[2] = {-1, -1}, copy;
    size_t count = 0;

    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
        count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    if (count > 2)
        count = 2;
    if (count)
        memcpy(found, CMSG_DATA(head), count * sizeof(int));
    if (count == 1 && !(message->msg_flags & MSG_CTRUNC)) {
        copy = Opened_above(found[0]);
        return copy < 0 ? 0 : copy;
    }
    for (size_t i = 0; i < count; i++)
        close(found[i]);
    return 0;
}

long Socket_receive_file(int fd, void *data, size_t size, int *passed)
{
    union Passed control;
    struct iovec part = {data, size};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    ssize_t got;

    do
        got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    *passed = got < 0 ? 0 : take_passed(&message);
    return got < 0 ? -errno : got;
}
