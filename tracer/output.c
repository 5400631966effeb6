// SPDX-License-Identifier: MIT
// Output over zlib, whose streams also write plain files ("T"), so that there
// is one way for both. The only file that knows zlib.
#define _GNU_SOURCE 1 // renameat2
#include "tracer/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define BUFFER (256u << 10)
#define ATTEMPTS 100
#define LINKS 16 // that are followed, at most

static void release(struct Output *output)
{
    free(output->path);
    free(output->temporary);
    memset(output, 0, sizeof *output);
}

// Renaming over a device or a pipe would take its place.
static int check_target(const char *path)
{
    struct stat status;

    if (stat(path, &status))
        return errno == ENOENT ? 0 : -errno;
    if (S_ISDIR(status.st_mode))
        return -EISDIR;
    return S_ISREG(status.st_mode) ? 0 : -EINVAL;
}

// Of a file that may be missing: the absolute name, without links, of its
// directory, and its own. malloc'ed, or NULL with errno.
static char *join_missing(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *directory =
        slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *real = directory ? realpath(directory, NULL) : NULL, *full = NULL;

    if (real && asprintf(&full, "%s/%s", real, name) < 0)
        full = NULL;
    free(directory);
    free(real);
    return full;
}

// Where the file is, or will be: a link may lead to one that is not there yet.
static char *resolve(const char *path)
{
    char target[PATH_MAX], *full = realpath(path, NULL), *next;
    int links;

    if (full || errno != ENOENT)
        return full;
    full = join_missing(path);
    for (links = 0; full && links < LINKS; links++) {
        ssize_t length = readlink(full, target, sizeof target - 1);
        char *slash = strrchr(full, '/');

        if (length < 0)
            return full;
        target[length] = '\0';
        *slash = '\0'; // what the link says is seen from its directory
        if (asprintf(&next, "%s/%s", target[0] == '/' ? "" : full, target) < 0)
            next = NULL;
        free(full);
        full = next ? join_missing(next) : NULL;
        free(next);
    }
    free(full);
    return NULL;
}

// A file of its own in the directory of output->path: descriptor or -errno.
static int open_temporary(struct Output *output)
{
    const char *slash = strrchr(output->path, '/');
    int length = slash ? (int)(slash - output->path) + 1 : 0;
    size_t size = (size_t)length + 64;
    int i, fd;

    output->temporary = malloc(size);
    if (!output->temporary)
        return -ENOMEM;
    for (i = 0; i < ATTEMPTS; i++) {
        snprintf(output->temporary, size, "%.*s.ocular-%ld-%d.tmp", length,
                 output->path, (long)getpid(), i);
        fd = open(output->temporary,
                  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd >= 0)
            return fd;
        if (errno != EEXIST)
            return -errno;
    }
    return -EEXIST;
}

int Output_open(struct Output *output, const char *path)
{
    size_t length = strlen(path);
    bool zip = length > 3 && !strcmp(path + length - 3, ".gz");
    int error = check_target(path), fd;

    memset(output, 0, sizeof *output);
    if (error)
        return error;
    errno = 0;
    output->path = resolve(path);
    if (!output->path)
        return errno ? -errno : -ENOMEM;
    fd = open_temporary(output);
    if (fd < 0) {
        release(output);
        return fd;
    }
    output->stream = gzdopen(fd, zip ? "wb1" : "wbT");
    if (!output->stream) {
        close(fd);
        unlink(output->temporary);
        release(output);
        return -ENOMEM;
    }
    gzbuffer(output->stream, BUFFER);
    return 0;
}

static int stream_error(struct Output *output)
{
    int error;
    int saved = errno;

    gzerror(output->stream, &error);
    if (error == Z_MEM_ERROR)
        return -ENOMEM;
    return error == Z_ERRNO && saved ? -saved : -EIO;
}

int Output_write(struct Output *output, const void *data, size_t size)
{
    errno = 0;
    if (size && gzfwrite(data, size, 1, output->stream) != 1)
        return stream_error(output);
    return 0;
}

uint64_t Output_bytes(const struct Output *output)
{
    z_off_t at = gzoffset(output->stream);

    return at > 0 ? (uint64_t)at : 0;
}

// 0 or -errno.
static int put_in_place(const struct Output *output, bool overwrite)
{
    if (overwrite)
        return rename(output->temporary, output->path) ? -errno : 0;
    if (renameat2(AT_FDCWD, output->temporary, AT_FDCWD, output->path,
                  RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    // A file system that has no such renaming.
    if (link(output->temporary, output->path) == 0) {
        unlink(output->temporary);
        return 0;
    }
    if (errno != EPERM && errno != ENOSYS && errno != EOPNOTSUPP)
        return -errno;
    // Nor second names: what comes between the next two is overwritten.
    if (faccessat(AT_FDCWD, output->path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return -EEXIST;
    return rename(output->temporary, output->path) ? -errno : 0;
}

int Output_commit(struct Output *output, bool overwrite, uint64_t *bytes)
{
    struct stat status;
    int error = 0, closed;

    errno = 0;
    if (gzflush(output->stream, Z_FINISH) != Z_OK)
        error = stream_error(output);
    closed = gzclose(output->stream);
    if (!error && closed != Z_OK)
        error = closed == Z_ERRNO && errno ? -errno : -EIO;
    if (!error && stat(output->temporary, &status))
        error = -errno;
    if (!error)
        error = put_in_place(output, overwrite);
    if (error)
        unlink(output->temporary);
    else
        *bytes = (uint64_t)status.st_size;
    release(output);
    return error;
}

void Output_abort(struct Output *output)
{
    gzclose(output->stream); // its errors no longer matter
    unlink(output->temporary);
    release(output);
}
