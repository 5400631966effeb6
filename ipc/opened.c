// SPDX-License-Identifier: MIT
// See opened.h. Between a look and what follows the number may change hands;
// nothing can be done about that, and it takes the program one system call.
#include "ipc/opened.h"

#include <sys/stat.h>
#include <unistd.h>

void Opened_note(struct Opened *opened, int fd)
{
    struct stat status;

    if (fstat(fd, &status) < 0)
        status.st_dev = status.st_ino = 0; // which is no file's
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
