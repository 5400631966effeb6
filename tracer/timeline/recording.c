// SPDX-License-Identifier: MIT
// See recording.h. An append leaves bytes and the place where they go. A
// flush takes all of them and writes them, without the lock of an append. A
// place that was dropped is used again by the next block of its size. The
// program may close our descriptor: it is checked before each use
// (ipc/base/opened.h).
#define _GNU_SOURCE 1 // O_TMPFILE, SEEK_DATA
#include "tracer/timeline/recording.h"

#include "ipc/base/bytes.h"
#include "ipc/base/heap.h"
#include "ipc/base/in_place.h"
#include "ipc/base/opened.h"
#include "tracer/timeline/file_places.h"
#include "tracer/timeline/pending_writes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define SPARE_PART 20 // a 20th of the file system stays free, but at most
#define SPARE_MOST (UINT64_C(1) << 30)
#define SPARE_BYTES (1u << 20) // memory that is kept between two flushes
struct Recording {
    _Atomic unsigned references;
    pthread_mutex_t mutex;   // Guards `left` and the places.
    pthread_mutex_t writing; // Held by the thread that flushes; the outer lock.
    int fd;
    struct Opened opened;
    pid_t owner;    // The process that writes it, and no forked child.
    bool read_only; // It is read by a converter.
    // Up to this size the file may use all of the disk but a twentieth.
    uint64_t plain;
    uint64_t end;             // Offset of the next new place.
    uint64_t most;            // Largest size, as of the newest flush.
    struct FilePlaces places; // Places that were dropped, to be used again.
    struct Bytes left;        // PendingWrites, not yet taken by a flush.
    struct Bytes flushed;     // PendingWrites of the flush that goes on.
    _Atomic size_t waiting;   // Bytes of both.
    _Atomic int error;        // Of the newest flush: 0 or -errno.
    _Atomic bool ended;
    char path[PATH_MAX]; // "": the file has no name.
};

// If the file system has no files without a name (NFS), it is given one that
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

static bool is_ours(const struct Recording *recording)
{
    return recording->owner == getpid() &&
           Opened_holds(&recording->opened, recording->fd);
}

// How large may the file become until it is asked again, so that enough is left
// of its file system? Each flush asks, and whoever makes the file.
static void ask_for_room(struct Recording *recording)
{
    uint64_t spare = SPARE_MOST, most, room, bytes;
    struct statvfs system;

    if (!is_ours(recording) || fstatvfs(recording->fd, &system) < 0)
        return;
    room = (uint64_t)system.f_bavail * system.f_frsize;
    bytes = (uint64_t)system.f_blocks * system.f_frsize;
    if (spare > bytes / SPARE_PART)
        spare = bytes / SPARE_PART;
    pthread_mutex_lock(&recording->mutex);
    most = recording->end + (room > spare ? room - spare : 0);
    if (most < recording->plain && room > recording->plain)
        most = recording->plain;
    recording->most = most;
    pthread_mutex_unlock(&recording->mutex);
}

// With the descriptor, which is its own from now on, or -errno.
static struct Recording *make(int fd, int *error)
{
    struct Recording *recording =
        fd < 0 ? NULL : Heap_zeroed(1, sizeof *recording);

    *error = fd < 0 ? fd : recording ? 0 : -ENOMEM;
    if (!recording) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    recording->references = 1;
    pthread_mutex_init(&recording->mutex, NULL);
    pthread_mutex_init(&recording->writing, NULL);
    recording->fd = fd;
    Opened_note(&recording->opened, fd);
    recording->owner = getpid();
    recording->end = RECORDING_PAGE;
    ask_for_room(recording);
    return recording;
}

struct Recording *Recording_new_unnamed(const char *folder, int *error)
{
    return make(open_unnamed(folder), error);
}

struct Recording *Recording_new(const char *path, uint64_t plain, int *error)
{
    int fd = Opened_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    struct Recording *recording = make(fd, error);

    if (!recording)
        return NULL;
    // By this whoever finds the file knows whether its program lives. Some file
    // systems have no locks.
    flock(fd, LOCK_EX | LOCK_NB);
    recording->plain = plain;
    ask_for_room(recording);
    snprintf(recording->path, sizeof recording->path, "%s", path);
    return recording;
}

struct Recording *Recording_open(const char *path, int *error)
{
    int fd = Opened_open(path, O_RDONLY | O_NONBLOCK, 0);
    struct Recording *recording;
    struct stat status;

    if (fd >= 0 && (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))) {
        close(fd);
        fd = -EINVAL;
    }
    recording = make(fd, error);
    if (recording)
        recording->read_only = true;
    return recording;
}

void Recording_get(struct Recording *recording)
{
    atomic_fetch_add_explicit(&recording->references, 1, memory_order_relaxed);
}

void Recording_end(struct Recording *recording)
{
    atomic_store_explicit(&recording->ended, true, memory_order_relaxed);
}

void Recording_abandon(struct Recording *recording)
{
    Opened_close(&recording->opened, recording->fd);
    recording->fd = -1;
}

void Recording_put(struct Recording *recording)
{
    // The last one to put it sees what the others did.
    if (atomic_fetch_sub_explicit(&recording->references, 1,
                                  memory_order_acq_rel) > 1)
        return;
    if (*recording->path)
        Recording_flush(recording, true);
    // A forked child may have it open, whose blocks it would keep.
    if (!*recording->path && !recording->read_only && is_ours(recording) &&
        ftruncate(recording->fd, 0) < 0)
        errno = 0; // it goes with the last who has it
    Opened_close(&recording->opened, recording->fd);
    FilePlaces_release(&recording->places);
    Bytes_release(&recording->left);
    Bytes_release(&recording->flushed);
    pthread_mutex_destroy(&recording->mutex);
    pthread_mutex_destroy(&recording->writing);
    Heap_free(recording);
}

// --- Its name ----------------------------------------------------------------

const char *Recording_path(const struct Recording *recording)
{
    return recording->path;
}

static bool has_its_name(const struct Recording *recording)
{
    struct stat file, named;

    return *recording->path && is_ours(recording) &&
           fstat(recording->fd, &file) == 0 &&
           lstat(recording->path, &named) == 0 && file.st_dev == named.st_dev &&
           file.st_ino == named.st_ino;
}

void Recording_remove(struct Recording *recording)
{
    if (has_its_name(recording))
        unlink(recording->path);
    *recording->path = '\0'; // nobody reads what is left to be written
}

int Recording_rename(struct Recording *recording, const char *path)
{
    int error;

    if (!has_its_name(recording))
        return -ENOENT;
    error = InPlace_put(AT_FDCWD, recording->path, recording->fd, path, false);
    if (!error)
        snprintf(recording->path, sizeof recording->path, "%s", path);
    return error;
}

uint64_t Recording_bytes(struct Recording *recording)
{
    struct stat status;

    return is_ours(recording) && fstat(recording->fd, &status) == 0
               ? (uint64_t)status.st_size
               : 0;
}

// --- Bytes -------------------------------------------------------------------

// A write beyond the limit would send SIGXFSZ, which may have a handler by now.
static int check_limit(const struct Recording *recording, uint64_t end)
{
    struct rlimit limit;

    if (recording->read_only || !is_ours(recording))
        return -EBADF;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && end > limit.rlim_cur)
        return -EFBIG;
    return end > INT64_MAX ? -EFBIG : 0;
}

static int write_all(const struct Recording *recording, const void *data,
                     size_t size, uint64_t at)
{
    int error = check_limit(recording, at + size);
    size_t done = 0;

    while (!error && done < size) {
        ssize_t wrote = pwrite(recording->fd, (const char *)data + done,
                               size - done, (off_t)(at + done));

        if (wrote > 0)
            done += (size_t)wrote;
        else if (wrote == 0 || errno != EINTR)
            error = wrote ? -errno : -EIO;
    }
    return error;
}

int Recording_read(struct Recording *recording, uint64_t at, void *data,
                   size_t size)
{
    size_t done = 0;

    if (!is_ours(recording))
        return -EBADF;
    if (atomic_load_explicit(&recording->waiting, memory_order_acquire))
        Recording_flush(recording, true);
    while (done < size) {
        ssize_t got = pread(recording->fd, (char *)data + done, size - done,
                            (off_t)(at + done));

        if (got > 0)
            done += (size_t)got;
        else if (got == 0 || errno != EINTR)
            return got ? -errno : -EIO;
    }
    return 0;
}

uint64_t Recording_seek(const struct Recording *recording, uint64_t at)
{
    off_t found = is_ours(recording)
                      ? lseek(recording->fd, (off_t)at, SEEK_DATA)
                      : (off_t)-1;

    return found < 0 ? 0 : (uint64_t)found;
}

// --- What is left to be written ----------------------------------------------

// The mutex is held. If memory is out the flush finds the error.
static void leave(struct Recording *recording, const void *data, size_t size,
                  uint64_t at)
{
    PendingWrites_add(&recording->left, &(struct PendingWrite){at, size, data});
    atomic_store_explicit(&recording->waiting,
                          recording->left.size + recording->flushed.size,
                          memory_order_release);
}

static int write_left(struct Recording *recording)
{
    struct PendingWrite write;
    size_t cursor = 0;
    int error = recording->flushed.error;

    while (!error && PendingWrites_next(&recording->flushed, &cursor, &write))
        error = write_all(recording, write.data, write.size, write.at);
    return error;
}

int Recording_flush(struct Recording *recording, bool waits)
{
    struct Bytes taken;
    int error;

    if (recording->owner != getpid())
        return -EBADF;
    if (!waits && pthread_mutex_trylock(&recording->writing))
        return 0;
    if (waits)
        pthread_mutex_lock(&recording->writing);
    pthread_mutex_lock(&recording->mutex);
    taken = recording->left;
    recording->left = recording->flushed;
    recording->flushed = taken;
    pthread_mutex_unlock(&recording->mutex);
    error = write_left(recording);
    atomic_store_explicit(&recording->error, error, memory_order_relaxed);
    if (recording->flushed.size)
        ask_for_room(recording);
    pthread_mutex_lock(&recording->mutex);
    Bytes_clear(&recording->flushed);
    if (recording->flushed.capacity > SPARE_BYTES)
        Bytes_release(&recording->flushed);
    atomic_store_explicit(&recording->waiting, recording->left.size,
                          memory_order_release);
    pthread_mutex_unlock(&recording->mutex);
    pthread_mutex_unlock(&recording->writing);
    return error;
}

size_t Recording_waiting(const struct Recording *recording)
{
    return atomic_load_explicit(&recording->waiting, memory_order_relaxed);
}

int Recording_error(const struct Recording *recording)
{
    return atomic_load_explicit(&recording->error, memory_order_relaxed);
}

void Recording_put_head(struct Recording *recording, struct RecordingHead *head)
{
    head->magic = RECORDING_MAGIC;
    head->version = RECORDING_VERSION;
    head->check = RecordingHead_check(head);
    pthread_mutex_lock(&recording->mutex);
    leave(recording, head, sizeof *head, 0);
    pthread_mutex_unlock(&recording->mutex);
}

// --- Blocks ------------------------------------------------------------------

// The mutex is held. 0 or -errno.
static int check_end(const struct Recording *recording, uint64_t end)
{
    int error = check_limit(recording, end);

    return error ? error : end > recording->most ? -ENOSPC : 0;
}

// The mutex is held. 0 or -errno.
static int take_place(struct Recording *recording, struct RecordingSlot *slot,
                      size_t room)
{
    uint64_t pages = FilePlaces_pages(
        (room + sizeof(struct RecordingBlock) + RECORDING_PAGE - 1) /
        RECORDING_PAGE);
    uint64_t size = pages * RECORDING_PAGE;
    int error = pages ? recording->ended ? -EBADF : 0 : -EFBIG;

    if (!error && !FilePlaces_take(&recording->places, pages, &slot->at)) {
        error = check_end(recording, recording->end + size);
        slot->at = recording->end;
        recording->end += error ? 0 : size;
    }
    if (error)
        return error;
    slot->pages = (uint32_t)pages;
    slot->used = 0;
    slot->check = RECORDING_SEED;
    return 0;
}

int Recording_append(struct Recording *recording, struct RecordingSlot *slot,
                     struct RecordingBlock *block, const void *data,
                     size_t size)
{
    int error = Recording_error(recording);

    pthread_mutex_lock(&recording->mutex);
    if (!error && !slot->pages)
        error = take_place(recording, slot, size);
    if (!error) {
        leave(recording, data, size, RecordingSlot_data(slot) + slot->used);
        slot->used += (uint32_t)size;
        slot->check = Recording_check(slot->check, data, size);
        block->magic = RECORDING_BLOCK;
        block->at = slot->at;
        block->size = slot->pages * RECORDING_PAGE;
        block->used = slot->used;
        block->data_check = slot->check;
        block->check = RecordingBlock_check(block);
        leave(recording, block, sizeof *block, slot->at);
    }
    pthread_mutex_unlock(&recording->mutex);
    return error;
}

void Recording_drop(struct Recording *recording, struct RecordingSlot *slot)
{
    static const uint64_t none;

    if (!slot->pages || recording->owner != getpid() ||
        atomic_load_explicit(&recording->ended, memory_order_relaxed))
        return;
    pthread_mutex_lock(&recording->mutex);
    leave(recording, &none, sizeof none, slot->at);
    FilePlaces_give(&recording->places, slot->pages, slot->at);
    pthread_mutex_unlock(&recording->mutex);
    slot->pages = 0;
}
