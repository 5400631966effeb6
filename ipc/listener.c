// SPDX-License-Identifier: MIT
// Binds, checks and removes the server's socket. If a socket of another process
// is at the path and is in use, the server does not touch it.
#include "ipc/listener.h"

#include "ipc/base/heap.h"
#include "ipc/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

// Returns true if the socket at `path` is the server's own. If lstat() is not
// permitted, also returns true, because the program may have bound the socket
// with capabilities that Ocular's threads do not have (ipc/base/worker.c). If
// the program has changed its user, returns false, so that the socket moves to
// the new user's directory in /tmp.
static bool is_in_place(const struct Listener *listener, const char *path)
{
    struct stat status;

    if (lstat(path, &status) < 0)
        return errno == EACCES && listener->user == geteuid();
    return status.st_dev == listener->device &&
           status.st_ino == listener->inode;
}

// Returns 0 if the path is free, or if no process listens at the socket with
// this path.
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

// Watches the server's socket and the socket's directory, because another
// program may unlink the socket or move the directory. If the user's limit of
// inotify instances is reached, the server's thread checks the path every
// CHECK_MS ms instead (server.c).
static void watch_path(struct Listener *listener, const char *path)
{
    char folder[ADDRESS_MAX];
    int watch = atomic_load(&listener->watch);

    listener->watched = false;
    if (!Opened_holds(&listener->watching, watch)) {
        watch = Opened_above(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
        Opened_note(&listener->watching, watch);
        atomic_store(&listener->watch, watch);
    }
    snprintf(folder, sizeof(folder), "%s", path);
    *strrchr(folder, '/') = '\0';
    listener->watched =
        watch >= 0 &&
        inotify_add_watch(watch, path,
                          IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF) >= 0 &&
        inotify_add_watch(watch, folder,
                          IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR) >= 0;
}

static void drain_watch(struct Listener *listener)
{
    char events[1024];
    ssize_t got;
    int watch = atomic_load(&listener->watch);

    do {
        errno = EBADF;
        got = -1;
        if (Opened_holds(&listener->watching, watch))
            got = read(watch, events, sizeof(events));
    } while (got > 0);
    // The program has closed the inotify descriptor, or uses its number for an
    // epoll. An epoll has the same inode as an inotify.
    if (got < 0 && errno != EAGAIN)
        atomic_store(&listener->watch, -1);
}

static int bind_path(struct Listener *listener, const char *text, char *why,
                     size_t why_size)
{
    struct ListenerPath *path;
    struct stat status;
    int old, error, fd = look_before(text, why, why_size);

    if (fd < 0)
        return fd;
    path = Heap_zeroed(1, sizeof(*path));
    fd = path ? Socket_listen(text) : -ENOMEM;
    if (fd < 0 || lstat(text, &status) < 0) {
        // Another program has already removed the socket.
        error = fd < 0 ? fd : -errno;
        if (fd >= 0)
            close(fd);
        snprintf(why, why_size,
                 "cannot listen at %s: %s; set OCULAR_DIR to a directory that "
                 "you can write to",
                 text, strerror(-error));
        Heap_free(path);
        return error;
    }
    snprintf(path->text, sizeof(path->text), "%s", text);
    path->older = atomic_load(&listener->path);
    atomic_store(&listener->path, path);
    listener->device = status.st_dev;
    listener->inode = status.st_ino;
    listener->user = geteuid();
    old = atomic_load(&listener->fd);
    if (!Opened_holds(&listener->opened, old))
        old = -1;
    Opened_note(&listener->opened, fd);
    atomic_store(&listener->fd, fd);
    if (old >= 0)
        close(old);
    watch_path(listener, text);
    return 0;
}

int Listener_open(struct Listener *listener, char *why, size_t why_size)
{
    char path[ADDRESS_MAX];
    int error;

    memset(listener, 0, sizeof(*listener));
    atomic_init(&listener->fd, -1);
    atomic_init(&listener->watch, -1);
    listener->pid = getpid();
    error = Address_prepare(path, listener->pid, why, why_size);
    if (!error)
        error = bind_path(listener, path, why, why_size);
    if (!error)
        Address_sweep(path);
    return error;
}

const char *Listener_path(const struct Listener *listener)
{
    return atomic_load(&listener->path)->text;
}

static atomic_bool staying_away;

void Listener_stay_away(void)
{
    atomic_store(&staying_away, true);
}

bool Listener_check(struct Listener *listener)
{
    char path[ADDRESS_MAX], why[256];

    drain_watch(listener);
    if (atomic_load(&listener->fd) >= 0 &&
        is_in_place(listener, Listener_path(listener))) {
        if (atomic_load(&listener->watch) < 0)
            watch_path(listener, Listener_path(listener));
        return listener->watched;
    }
    memcpy(path, Listener_path(listener), sizeof(path));
    if (!atomic_load(&staying_away) &&
        Address_restore(path, listener->pid) == 0)
        bind_path(listener, path, why, sizeof(why));
    return listener->watched && is_in_place(listener, Listener_path(listener));
}

bool Listener_forget_lost(struct Listener *listener, bool others)
{
    int fd = atomic_load(&listener->fd);
    int watch = atomic_load(&listener->watch);
    bool lost = fd >= 0 && !Opened_holds(&listener->opened, fd);
    bool unwatched = watch >= 0 && (lost || others ||
                                    !Opened_holds(&listener->watching, watch));

    if (lost)
        atomic_store(&listener->fd, -1);
    if (unwatched)
        atomic_store(&listener->watch, -1);
    return lost || unwatched;
}

void Listener_touch(const struct Listener *listener)
{
    utimensat(AT_FDCWD, Listener_path(listener), NULL, AT_SYMLINK_NOFOLLOW);
}

void Listener_leave(struct Listener *listener)
{
    if (is_in_place(listener, Listener_path(listener)))
        unlink(Listener_path(listener));
    Address_sweep(Listener_path(listener));
    Listener_abandon(listener);
}

void Listener_abandon(struct Listener *listener)
{
    int fd = atomic_exchange(&listener->fd, -1);
    int watch = atomic_exchange(&listener->watch, -1);

    Opened_close(&listener->opened, fd);
    Opened_close(&listener->watching, watch);
}

void Listener_release(struct Listener *listener)
{
    struct ListenerPath *path = atomic_load(&listener->path);

    while (path) {
        struct ListenerPath *older = path->older;

        Heap_free(path);
        path = older;
    }
}
