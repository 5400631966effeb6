// SPDX-License-Identifier: MIT
// Binds, checks and leaves the server's path. A path in whose place another
// live socket stands is never fought over.
#include "ipc/listener.h"

#include "ipc/socket.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_in_place(const struct Listener *listener, const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0 && status.st_dev == listener->device &&
           status.st_ino == listener->inode;
}

// 0 when the path is free or holds a socket that nobody listens at.
static int look_before(const char *path, char *why, size_t why_size)
{
    struct stat status;
    struct Peer peer;
    int fd;

    if (lstat(path, &status) < 0)
        return 0;
    if (!S_ISSOCK(status.st_mode)) {
        snprintf(why, why_size, "%s is in the way and no socket: remove it",
                 path);
        return -EEXIST;
    }
    fd = Socket_connect(path, &peer);
    if (fd < 0 && fd != -EAGAIN)
        return 0;
    if (fd >= 0)
        close(fd);
    snprintf(why, why_size,
             "process %d already serves at %s; set OCULAR_DIR to another "
             "directory",
             fd >= 0 ? (int)peer.pid : 0, path);
    return -EADDRINUSE;
}

static int bind_path(struct Listener *listener, const char *text, char *why,
                     size_t why_size)
{
    struct ListenerPath *path;
    struct stat status;
    int old, fd = look_before(text, why, why_size);

    if (fd < 0)
        return fd;
    path = calloc(1, sizeof(*path));
    fd = path ? Socket_listen(text) : -ENOMEM;
    if (fd < 0 || lstat(text, &status) < 0) {
        fd = fd < 0 ? fd : -errno;
        snprintf(why, why_size, "cannot listen at %s: %s", text, strerror(-fd));
        free(path);
        return fd;
    }
    snprintf(path->text, sizeof(path->text), "%s", text);
    path->older = atomic_load(&listener->path);
    atomic_store(&listener->path, path);
    listener->device = status.st_dev;
    listener->inode = status.st_ino;
    old = atomic_exchange(&listener->fd, fd);
    if (old >= 0)
        close(old);
    return 0;
}

int Listener_open(struct Listener *listener, char *why, size_t why_size)
{
    char path[ADDRESS_MAX];
    int error;

    memset(listener, 0, sizeof(*listener));
    atomic_init(&listener->fd, -1);
    listener->pid = getpid();
    error = Address_prepare(path, listener->pid, why, why_size);
    return error ? error : bind_path(listener, path, why, why_size);
}

const char *Listener_path(const struct Listener *listener)
{
    return atomic_load(&listener->path)->text;
}

void Listener_check(struct Listener *listener)
{
    char path[ADDRESS_MAX], why[256];

    if (is_in_place(listener, Listener_path(listener)))
        return;
    memcpy(path, Listener_path(listener), sizeof(path));
    if (Address_restore(path, listener->pid) == 0)
        bind_path(listener, path, why, sizeof(why));
}

void Listener_leave(struct Listener *listener)
{
    if (is_in_place(listener, Listener_path(listener)))
        unlink(Listener_path(listener));
    Listener_abandon(listener);
}

void Listener_abandon(struct Listener *listener)
{
    int fd = atomic_exchange(&listener->fd, -1);

    if (fd >= 0)
        close(fd);
}

void Listener_release(struct Listener *listener)
{
    struct ListenerPath *path = atomic_load(&listener->path);

    while (path) {
        struct ListenerPath *older = path->older;

        free(path);
        path = older;
    }
}
