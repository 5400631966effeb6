// SPDX-License-Identifier: MIT
// See spill.h. Pieces are appended; what is dropped becomes a hole. The program
// may close our descriptor: it is checked before each use (ipc/base/opened.h).
#define _GNU_SOURCE 1 // O_TMPFILE, fallocate
#include "tracer/timeline/spill.h"

#include "ipc/base/heap.h"
#include "ipc/base/opened.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define ALIGN UINT64_C(4096) // a hole is of whole pages
#define SPARE_PART 20 // a 20th of the file system stays free, but at most
#define SPARE_MOST (UINT64_C(1) << 30)

struct Spill {
    _Atomic unsigned references;
    pthread_mutex_t mutex; // guards the last two numbers
    int fd;
    struct Opened opened;
    nlink_t links;       // names that it has: 0, but where it is renamed (NFS)
    pid_t owner;         // a forked child leaves its parent's file alone
    uint64_t max_bytes;  // bytes that the file may have (RLIMIT_FSIZE)
    uint64_t append_at;  // where the next piece goes
    uint64_t live_bytes; // bytes of the pieces that have not been dropped
    _Atomic bool ended;
};

// Where the file system has no files without a name (NFS), it is given one that
// goes at once. Descriptor or -errno.
static int open_unnamed(const char *folder)
{
    char path[PATH_MAX];
    int fd = Opened_above(
        open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600));

    if (fd != -EOPNOTSUPP && fd != -EISDIR && fd != -ENOENT)
        return fd;
    if (snprintf(path, sizeof path, "%s/.ocular-XXXXXX", folder) >=
        (int)sizeof path)
        return -ENAMETOOLONG;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return Opened_above(fd);
}

struct Spill *Spill_new(const char *folder, int *error)
{
    struct Spill *spill = Heap_zeroed(1, sizeof *spill);
    struct rlimit limit;
    struct stat status;

    *error = -ENOMEM;
    if (!spill)
        return NULL;
    spill->fd = open_unnamed(folder);
    if (spill->fd < 0) {
        *error = spill->fd;
        Heap_free(spill);
        return NULL;
    }
    *error = 0;
    spill->references = 1;
    pthread_mutex_init(&spill->mutex, NULL);
    Opened_note(&spill->opened, spill->fd);
    if (fstat(spill->fd, &status) == 0)
        spill->links = status.st_nlink;
    spill->owner = getpid();
    // A write beyond it would send SIGXFSZ.
    getrlimit(RLIMIT_FSIZE, &limit);
    spill->max_bytes = limit.rlim_cur < INT64_MAX ? limit.rlim_cur : INT64_MAX;
    return spill;
}

void Spill_get(struct Spill *spill)
{
    atomic_fetch_add_explicit(&spill->references, 1, memory_order_relaxed);
}

void Spill_end(struct Spill *spill)
{
    atomic_store_explicit(&spill->ended, true, memory_order_relaxed);
}

void Spill_abandon(struct Spill *spill)
{
    Opened_close(&spill->opened, spill->fd);
    spill->fd = -1;
}

static uint64_t whole_pages(uint64_t size)
{
    return (size + ALIGN - 1) / ALIGN * ALIGN;
}

static bool is_ours(const struct Spill *spill)
{
    return spill->owner == getpid() && Opened_holds(&spill->opened, spill->fd);
}

void Spill_put(struct Spill *spill)
{
    // The last one to put it sees what the others did.
    if (atomic_fetch_sub_explicit(&spill->references, 1, memory_order_acq_rel) >
        1)
        return;
    // A forked child may have it open, whose blocks it would keep.
    if (is_ours(spill) && ftruncate(spill->fd, 0) < 0)
        errno = 0; // it goes with the last who has it
    Opened_close(&spill->opened, spill->fd);
    pthread_mutex_destroy(&spill->mutex);
    Heap_free(spill);
}

static int check_room(const struct Spill *spill, size_t size)
{
    struct statvfs system;
    uint64_t spare;

    if (!is_ours(spill))
        return -EBADF;
    if (size > spill->max_bytes || spill->append_at > spill->max_bytes - size)
        return -EFBIG;
    if (fstatvfs(spill->fd, &system) < 0)
        return -errno;
    spare = (uint64_t)system.f_blocks * system.f_frsize / SPARE_PART;
    if (spare > SPARE_MOST)
        spare = SPARE_MOST;
    if ((uint64_t)system.f_bavail * system.f_frsize < spare + size)
        return -ENOSPC;
    return 0;
}

static int write_all(const struct Spill *spill, const struct iovec *part,
                     uint64_t at)
{
    const char *data = part->iov_base;
    size_t done = 0;

    while (done < part->iov_len) {
        ssize_t wrote = pwrite(spill->fd, data + done, part->iov_len - done,
                               (off_t)(at + done));

        if (wrote > 0)
            done += (size_t)wrote;
        else if (wrote == 0 || errno != EINTR)
            return wrote ? -errno : -EIO;
    }
    return 0;
}

int Spill_write(struct Spill *spill, const struct iovec *parts, size_t count,
                uint64_t *at)
{
    size_t size = 0, i;
    int error;

    for (i = 0; i < count; i++)
        size += parts[i].iov_len;
    pthread_mutex_lock(&spill->mutex);
    *at = spill->append_at;
    error = check_room(spill, size);
    for (i = 0; !error && i < count; i++) {
        error = write_all(spill, &parts[i], spill->append_at);
        spill->append_at += parts[i].iov_len;
    }
    spill->append_at = error ? *at : *at + whole_pages(size);
    spill->live_bytes += error ? 0 : size;
    pthread_mutex_unlock(&spill->mutex);
    return error;
}

int Spill_read(const struct Spill *spill, uint64_t at, void *data, size_t size)
{
    char *into = data;
    size_t done = 0;

    if (!is_ours(spill))
        return -EBADF;
    while (done < size) {
        ssize_t got =
            pread(spill->fd, into + done, size - done, (off_t)(at + done));

        if (got > 0)
            done += (size_t)got;
        else if (got == 0 || errno != EINTR)
            return got ? -errno : -EIO;
    }
    return 0;
}

// Where the file system knows no holes the room comes back with the last piece.
void Spill_drop(struct Spill *spill, uint64_t at, size_t size)
{
    if (atomic_load_explicit(&spill->ended, memory_order_relaxed))
        return;
    pthread_mutex_lock(&spill->mutex);
    if (is_ours(spill)) {
        spill->live_bytes -= size;
        if (spill->live_bytes)
            fallocate(spill->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      (off_t)at, (off_t)whole_pages(size));
        else if (ftruncate(spill->fd, 0) == 0)
            spill->append_at = 0;
    }
    pthread_mutex_unlock(&spill->mutex);
}
