// SPDX-License-Identifier: MIT
#include "tui/model/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// openat2(2) fails with EAGAIN for a path with ".." if any file was renamed or
// mounted at the same time. Ocular then tries again.
#define TRIES 1000

int Place_root(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
    int root = pid ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    return root >= 0 ? root : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int Place_find(int root, const char *path, int flags)
{
    struct open_how how = {.flags = (uint64_t)flags | O_CLOEXEC,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    struct stat ours, theirs;
    long found;
    int tries = TRIES;
    do
        found = syscall(SYS_openat2, root, path, &how, sizeof how);
    while (found < 0 && errno == EAGAIN && tries--);
    if (found >= 0)
        return (int)found;
    if (errno != ENOSYS && errno != EPERM)
        return -errno;
    // The kernel is too old for openat2(), or a seccomp filter forbids it.
    // Without openat2(), a path is opened only if the process and the viewer
    // have the same root directory.
    if (stat("/", &ours) || fstat(root, &theirs) ||
        ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino)
        return -EACCES;
    found = open(path, flags | O_CLOEXEC);
    return found >= 0 ? (int)found : -errno;
}

int Place_open(pid_t pid, const char *path, int flags)
{
    int root = Place_root(pid), fd;
    if (root < 0)
        return -errno;
    fd = Place_find(root, path, flags);
    close(root);
    return fd;
}

int Place_folder(pid_t pid, const char *path)
{
    char text[64];
    snprintf(text, sizeof text, "/proc/%d/root", (int)pid);
    int fd = open(text, O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && *path) {
        int size = (int)strcspn(path, "/");
        snprintf(text, sizeof text, "%.*s", size, path);
        int next =
            openat(fd, text, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(fd);
        fd = next;
        path += size + (path[size] == '/');
    }
    return fd < 0 ? -errno : fd;
}

// Reads the target of a link in /proc/PID. The target is a path below the
// viewer's root directory.
static bool read_link(char out[PATH_MAX], pid_t pid, const char *name)
{
    char link[64];
    if (pid)
        snprintf(link, sizeof link, "/proc/%d/%s", (int)pid, name);
    else
        snprintf(link, sizeof link, "/proc/self/%s", name);
    ssize_t size = readlink(link, out, PATH_MAX - 1);
    out[size < 0 ? 0 : size] = 0;
    return size >= 0;
}

bool Place_absolute(char out[PATH_MAX], pid_t pid, const char *file)
{
    char directory[PATH_MAX], root[PATH_MAX];
    if (*file == '/')
        return (size_t)snprintf(out, PATH_MAX, "%s", file) < PATH_MAX;
    if (!read_link(directory, pid, "cwd"))
        return false;
    // If the process has called chroot(2), the path of its working directory
    // begins with the path of its root directory.
    size_t skip = read_link(root, pid, "root") ? strlen(root) : 0;
    if (skip < 2 || strncmp(directory, root, skip) != 0 ||
        (directory[skip] && directory[skip] != '/'))
        skip = 0;
    return (size_t)snprintf(out, PATH_MAX, "%s/%s", directory + skip, file) <
           PATH_MAX;
}
