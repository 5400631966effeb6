// SPDX-License-Identifier: MIT
// output.c is the only file of Ocular's engine that uses zlib. zlib's functions
// for files are not used, because output.c checks before each write that the
// descriptor is still ours (ipc/base/opened.h).
#include "formats/output.h"
#include "ipc/base/heap.h"
#include "ipc/base/in_place.h"
#include "ipc/base/opened.h"
#include "ipc/file_kind.h"
#include "tracer/timeline/output_name.h"
#include "tracer/timeline/trace.h"

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
// Largest number of symlinks that are followed in a row.
#define LINKS 16
#define GZIP 16 // Added to zlib's window bits to get a gzip header and trailer.

struct OutputStream {
    int fd;
    // Points to `own`, or to the owner's struct if the file is borrowed.
    const struct Opened *opened;
    struct Opened own;
    bool zip;
    z_stream zlib;
    uint64_t written; // Bytes written to the file so far.
    size_t used;      // Bytes in the buffer that are not written yet.
    uint8_t buffer[BUFFER];
};

static bool is_own(const struct OutputStream *stream)
{
    return stream->opened == &stream->own;
}

static void release(struct Output *output)
{
    if (output->stream) {
        if (is_own(output->stream))
            Opened_close(&output->stream->own, output->stream->fd);
        deflateEnd(&output->stream->zlib);
        Heap_free(output->stream);
    }
    free(output->path);
    free(output->temporary);
    memset(output, 0, sizeof *output);
}

// Accepts only regular files, because a rename would also replace a device or a
// pipe.
static int check_target(const char *path)
{
    struct stat status;

    if (stat(path, &status))
        return errno == ENOENT ? 0 : -errno;
    if (S_ISDIR(status.st_mode))
        return -EISDIR;
    return S_ISREG(status.st_mode) ? 0 : -EINVAL;
}

// Returns the absolute path of a file that might not exist. The result is the
// resolved path of the file's directory, and then the file's own name. The
// caller frees the result by free(). After an error returns NULL and sets
// errno.
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

// Resolves all symlinks in the path of a file that might not exist.
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
        // The path in a relative link is relative to the folder of the link.
        *slash = '\0';
        if (asprintf(&next, "%s/%s", target[0] == '/' ? "" : full, target) < 0)
            next = NULL;
        free(full);
        full = next ? join_missing(next) : NULL;
        free(next);
    }
    free(full);
    return NULL;
}

// Opens a file without a name and returns its descriptor, or -errno.
static int open_unnamed(char *path)
{
    char *slash = strrchr(path, '/');
    int fd;

    if (!slash || slash == path)
        return -ENOENT;
    *slash = '\0';
    fd = InPlace_open_unnamed(AT_FDCWD, path);
    *slash = '/';
    return fd;
}

// Makes a temporary file in the directory of output->path. Returns the
// descriptor of the temporary file, or -errno.
static int open_temporary(struct Output *output)
{
    const char *slash = strrchr(output->path, '/');
    int length = slash ? (int)(slash - output->path) + 1 : 0;
    size_t size = (size_t)length + 64;
    int i, fd = open_unnamed(output->path);

    if (fd >= 0 || fd == -EBADF)
        return fd;
    output->temporary = malloc(size);
    if (!output->temporary)
        return -ENOMEM;
    for (i = 0; i < ATTEMPTS; i++) {
        snprintf(output->temporary, size, "%.*s.ocular-%ld-%d.tmp", length,
                 output->path, (long)getpid(), i);
        fd = Opened_open(output->temporary,
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
        // The program has closed the file's descriptor or uses its number for
        // another file.
        if (fd == -EBADF)
            unlink(output->temporary);
        if (fd != -EEXIST)
            return fd;
    }
    return -EEXIST;
}

// --- Output stream ---------------------------------------------------------

// Allocates the memory that zlib requests from Ocular's heap.
static void *take_memory(void *context, unsigned count, unsigned size)
{
    (void)context;
    return Heap_zeroed(count, size);
}

static void give_memory(void *context, void *memory)
{
    (void)context;
    Heap_free(memory);
}

// Opens a stream that writes to a file. `opened` is the struct of the owner of
// a borrowed file, or NULL.
static struct OutputStream *open_stream(int fd, const struct Opened *opened,
                                        bool zip)
{
    struct OutputStream *stream = Heap_zeroed(1, sizeof *stream);

    if (!stream)
        return NULL;
    stream->fd = fd;
    stream->zip = zip;
    stream->zlib.zalloc = take_memory;
    stream->zlib.zfree = give_memory;
    stream->opened = opened ? opened : &stream->own;
    if (!opened)
        Opened_note(&stream->own, fd);
    if (!zip ||
        deflateInit2(&stream->zlib, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + GZIP,
                     MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK)
        return stream;
    Heap_free(stream);
    return NULL;
}

// Writes the buffer to the file. Returns 0 or -errno. -EBADF means that the
// program has closed our descriptor. The number of a closed descriptor may
// belong to another file by now.
static int write_buffer(struct OutputStream *stream)
{
    const uint8_t *from = stream->buffer;

    while (stream->used > 0) {
        ssize_t written;

        if (!Opened_holds(stream->opened, stream->fd))
            return -EBADF;
        written = write(stream->fd, from, stream->used);
        if (written < 0 && errno != EINTR)
            return -errno;
        if (written > 0) {
            from += written;
            stream->used -= (size_t)written;
            stream->written += (uint64_t)written;
        }
    }
    return 0;
}

static int write_plain(struct OutputStream *stream, const uint8_t *data,
                       size_t size)
{
    while (size > 0) {
        size_t room = BUFFER - stream->used, part = size < room ? size : room;
        int error = 0;

        memcpy(stream->buffer + stream->used, data, part);
        stream->used += part;
        data += part;
        size -= part;
        if (stream->used == BUFFER)
            error = write_buffer(stream);
        if (error)
            return error;
    }
    return 0;
}

// Compresses the data and writes the result. `flush` is Z_FINISH for the last
// data, otherwise Z_NO_FLUSH.
static int write_packed(struct OutputStream *stream, const uint8_t *data,
                        size_t size, int flush)
{
    z_stream *zlib = &stream->zlib;
    int state;

    zlib->next_in = (uint8_t *)data;
    zlib->avail_in = (unsigned)size;
    do {
        int error = 0;

        zlib->next_out = stream->buffer + stream->used;
        zlib->avail_out = (unsigned)(BUFFER - stream->used);
        state = deflate(zlib, flush);
        stream->used = BUFFER - zlib->avail_out;
        if (zlib->avail_out == 0)
            error = write_buffer(stream);
        if (error)
            return error;
    } while (zlib->avail_in > 0 || (flush == Z_FINISH && state == Z_OK));
    return state == Z_STREAM_ERROR ? -EIO : 0;
}

// Writes all bytes that are still in buffers. Returns 0 or -errno.
static int finish(struct OutputStream *stream)
{
    int error = 0;

    if (stream->zip)
        error = write_packed(stream, NULL, 0, Z_FINISH);
    return error ? error : write_buffer(stream);
}

// --- Output file -----------------------------------------------------------

// Sets output->path to the file that `path` means. Returns 0 or -errno.
static int name_target(struct Output *output, const char *path)
{
    int error = check_target(path);

    if (error)
        return error;
    errno = 0;
    output->path = resolve(path);
    return output->path ? 0 : errno ? -errno : -ENOMEM;
}

int Output_open(struct Output *output, const struct FormatsFile *file)
{
    bool borrowed = file->descriptor;
    bool device = !borrowed && OutputName_is_device(file->path);
    int error, fd = file->descriptor;

    *output = (struct Output){.overwrite = file->overwrite};
    if (device) {
        fd = Opened_open(file->path, O_WRONLY | O_NOCTTY, 0);
    } else if (!borrowed) {
        error = name_target(output, file->path);
        fd = error ? error : open_temporary(output);
    }
    if (fd < 0) {
        release(output);
        return fd;
    }
    output->stream = open_stream(fd, borrowed ? file->opened : NULL,
                                 FileKind_of(file->path).gzipped);
    if (output->stream)
        return 0;
    if (!borrowed)
        close(fd);
    Output_abort(output);
    return -ENOMEM;
}

int Output_write(struct Output *output, const void *data, size_t size)
{
    if (output->stream->zip)
        return write_packed(output->stream, data, size, Z_NO_FLUSH);
    return write_plain(output->stream, data, size);
}

uint64_t Output_bytes(const struct Output *output)
{
    return output->stream->written;
}

// Some file systems report a full disk only when a descriptor is closed. Only a
// copy of the descriptor is closed, because a file without a name is lost with
// its last descriptor.
static int close_copy(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, OPENED_ABOVE);

    return copy >= 0 && close(copy) ? -errno : 0;
}

int Output_commit(struct Output *output, uint64_t *bytes)
{
    struct OutputStream *stream = output->stream;
    int error = finish(stream);

    if (!error && !Opened_holds(stream->opened, stream->fd))
        error = -EBADF;
    if (!error && is_own(stream))
        error = close_copy(stream->fd);
    if (!error && output->path)
        error = InPlace_put(AT_FDCWD, output->temporary, stream->fd,
                            output->path, output->overwrite);
    if (!error)
        *bytes = stream->written;
    else if (output->temporary)
        unlink(output->temporary);
    release(output);
    return error;
}

void Output_abort(struct Output *output)
{
    if (output->temporary)
        unlink(output->temporary);
    release(output);
}
