// SPDX-License-Identifier: MIT
// Between Ocular's check and the next system call, the program may get a
// descriptor's number for its own file. A program seldom reuses the number of
// Ocular's descriptor, because the kernel gives the lowest free number. A
// program that has closed a descriptor of Ocular gets the same number only
// after it has used all lower numbers.
#define _GNU_SOURCE 1 // O_TMPFILE
#include "ipc/base/opened.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

void Opened_note(struct Opened *opened, int fd)
{
    struct stat status;

    if (fstat(fd, &status) < 0)
        // No file has both the device number 0 and the inode 0.
        status.st_dev = status.st_ino = 0;
    opened->device = status.st_dev;
    opened->inode = status.st_ino;
}

bool Opened_holds(const struct Opened *opened, int fd)
{
    struct stat status;

    return fd >= 0 && fstat(fd, &status) == 0 &&
           status.st_dev == opened->device && status.st_ino == opened->inode;
}

void Opened_close(const struct Opened *opened, int fd)
{
    if (Opened_holds(opened, fd))
        close(fd);
}

// Copies `fd` to OPENED_ABOVE or a higher number. While move_above() runs, the
// program may close `fd` and get the same number for a file of its own, which
// is neither kept nor closed.
static int move_above(int fd, const struct Opened *opened)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, OPENED_ABOVE), error;
    bool limited = copy < 0 && (errno == EMFILE || errno == EINVAL);

    if (limited && fd > 2)
        // The program's limit of descriptors is below OPENED_ABOVE, or it is
        // used up.
        return fd;
    if (limited)
        copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    error = errno;
    Opened_close(opened, fd);
    if (copy < 0)
        return -error;
    if (Opened_holds(opened, copy))
        return copy;
    close(copy);
    return -EBADF;
}

int Opened_above(int fd)
{
    struct Opened opened;

    if (fd < 0)
        return -errno;
    if (fd >= OPENED_ABOVE)
        return fd;
    Opened_note(&opened, fd);
    return move_above(fd, &opened);
}

int Opened_open(const char *path, int flags, mode_t mode)
{
    int fd = open(path, flags | O_CLOEXEC, mode);
    struct Opened opened;
    struct stat named;

    if (fd < 0)
        return -errno;
    if (fd >= OPENED_ABOVE)
        return fd;
    Opened_note(&opened, fd);
    if (stat(path, &named) == 0 &&
        (named.st_dev != opened.device || named.st_ino != opened.inode))
        // The program has closed the new descriptor and taken its number.
        return -EBADF;
    return move_above(fd, &opened);
}

int Opened_open_unnamed(int directory, const char *folder)
{
    int fd = openat(directory, folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    struct Opened opened;
    struct stat status;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &status) || status.st_nlink)
        // The program has closed the new descriptor and taken its number.
        return -EBADF;
    opened.device = status.st_dev;
    opened.inode = status.st_ino;
    return fd >= OPENED_ABOVE ? fd : move_above(fd, &opened);
}

long Opened_read(const char *path, char *text, size_t size)
{
    struct Opened opened;
    long used = 0;
    ssize_t got = 1;
    int fd = Opened_open(path, O_RDONLY, 0);

    if (fd < 0)
        return fd;
    Opened_note(&opened, fd);
    while (got > 0 && (size_t)used < size - 1) {
        errno = EBADF;
        got = -1;
        if (Opened_holds(&opened, fd))
            got = read(fd, text + used, size - 1 - (size_t)used);
        if (got > 0)
            used += got;
        else if (got < 0 && errno == EINTR)
            got = 1;
        else if (got < 0)
            used = -errno;
    }
    Opened_close(&opened, fd);
    text[used > 0 ? used : 0] = '\0';
    return used;
}

int Opened_write(int fd, const void *data, size_t size)
{
    const char *at = data;

    while (size) {
        ssize_t written = write(fd, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -errno;
        at += written;
        size -= (size_t)written;
    }
    return 0;
}
