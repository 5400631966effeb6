// SPDX-License-Identifier: MIT
// See save.h.
#include "tui/model/save.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t written = write(fd, data, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -errno;
        data += written;
        size -= (size_t)written;
    }
    return 0;
}

int Save_file(const char *path, const void *data, size_t size, bool overwrite)
{
    struct stat status;
    // Non-blocking, so that we refuse a pipe without a reader and do not wait
    // for one.
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK;
    int fd = open(path, flags | (overwrite ? 0 : O_EXCL), 0666);
    if (fd < 0)
        return errno == ENXIO ? -EINVAL : -errno;
    int error = 0;
    if (fstat(fd, &status) || !S_ISREG(status.st_mode))
        error = -EINVAL;
    else if (ftruncate(fd, 0))
        error = -errno;
    if (!error)
        error = write_all(fd, data, size);
    if (close(fd) && !error)
        error = -errno;
    return error;
}
