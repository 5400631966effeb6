// SPDX-License-Identifier: MIT
// See recording.h. Places are powers of two pages, and a place that was dropped
// is used again by the next block of its size. The program may close our
// descriptor: it is checked before each use (ipc/base/opened.h).
#define _GNU_SOURCE 1 // O_TMPFILE, SEEK_DATA
#include "tracer/timeline/recording.h"

#include "ipc/base/heap.h"
#include "ipc/base/in_place.h"
#include "ipc/base/opened.h"

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
#define SIZES 20u // powers of two pages: up to 2 GiB

struct Places { // of one size
    uint64_t *at;
    size_t count, room;
};

struct Recording {
    _Atomic unsigned references;
    pthread_mutex_t mutex; // guards `end` and `free`
    int fd;
    struct Opened opened;
    pid_t owner;    // a forked child leaves its parent's file alone
    bool read_only; // it is not ours to write
    uint64_t plain; // bytes up to which less has to be left
    uint64_t end;   // where the next new place is
    struct Places free[SIZES];
    _Atomic bool ended;
    char path[PATH_MAX]; // "": it has no name
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
    recording->fd = fd;
    Opened_note(&recording->opened, fd);
    recording->owner = getpid();
    recording->end = RECORDING_PAGE;
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

static bool is_ours(const struct Recording *recording)
{
    return recording->owner == getpid() &&
           Opened_holds(&recording->opened, recording->fd);
}

void Recording_put(struct Recording *recording)
{
    unsigned i;

    // The last one to put it sees what the others did.
    if (atomic_fetch_sub_explicit(&recording->references, 1,
                                  memory_order_acq_rel) > 1)
        return;
    // A forked child may have it open, whose blocks it would keep.
    if (!*recording->path && !recording->read_only && is_ours(recording) &&
        ftruncate(recording->fd, 0) < 0)
        errno = 0; // it goes with the last who has it
    Opened_close(&recording->opened, recording->fd);
    for (i = 0; i < SIZES; i++)
        Heap_free(recording->free[i].at);
    pthread_mutex_destroy(&recording->mutex);
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

void Recording_remove(const struct Recording *recording)
{
    if (has_its_name(recording))
        unlink(recording->path);
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

int Recording_read(const struct Recording *recording, uint64_t at, void *data,
                   size_t size)
{
    size_t done = 0;

    if (!is_ours(recording))
        return -EBADF;
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

int Recording_write_head(struct Recording *recording,
                         struct RecordingHead *head)
{
    head->magic = RECORDING_MAGIC;
    head->version = RECORDING_VERSION;
    head->check = RecordingHead_check(head);
    return write_all(recording, head, sizeof *head, 0);
}

// --- Blocks ------------------------------------------------------------------

// The power of two pages.
static unsigned class_of(uint64_t size)
{
    unsigned class = 0;

    while (RECORDING_PAGE << class < size)
        class ++;
    return class;
}

// Is there enough left of the file system, once it has so many bytes more?
static int check_room(const struct Recording *recording, uint64_t size)
{
    struct statvfs system;
    uint64_t most = SPARE_MOST, spare;

    if (fstatvfs(recording->fd, &system) < 0)
        return -errno;
    spare = (uint64_t)system.f_blocks * system.f_frsize / SPARE_PART;
    if (recording->end + size <= recording->plain)
        most = recording->plain;
    if (spare > most)
        spare = most;
    return (uint64_t)system.f_bavail * system.f_frsize < spare + size ? -ENOSPC
                                                                      : 0;
}

// 0 or -errno.
static int take_place(struct Recording *recording, struct RecordingSlot *slot,
                      size_t room)
{
    unsigned class = class_of(room + sizeof(struct RecordingBlock));
    struct Places *places = &recording->free[class];
    uint64_t size = RECORDING_PAGE << class;
    int error = 0;

    if (class >= SIZES)
        return -EFBIG;
    pthread_mutex_lock(&recording->mutex);
    if (places->count) {
        slot->at = places->at[--places->count];
    } else {
        error = is_ours(recording) ? check_room(recording, size) : -EBADF;
        slot->at = recording->end;
        recording->end += error ? 0 : size;
    }
    pthread_mutex_unlock(&recording->mutex);
    if (error)
        return error;
    slot->pages = (uint32_t)(size / RECORDING_PAGE);
    slot->used = 0;
    slot->check = RECORDING_SEED;
    return 0;
}

// If memory is out the place is not used again.
static void give_back(struct Recording *recording,
                      const struct RecordingSlot *slot)
{
    struct Places *places =
        &recording->free[class_of(slot->pages * RECORDING_PAGE)];

    pthread_mutex_lock(&recording->mutex);
    if (places->count == places->room) {
        size_t room = places->room ? 2 * places->room : 16;
        uint64_t *at = Heap_resize(places->at, room * sizeof *at);

        if (at) {
            places->at = at;
            places->room = room;
        }
    }
    if (places->count < places->room)
        places->at[places->count++] = slot->at;
    pthread_mutex_unlock(&recording->mutex);
}

int Recording_append(struct Recording *recording, struct RecordingSlot *slot,
                     struct RecordingBlock *block, const struct iovec parts[2],
                     size_t room)
{
    bool is_new = !slot->pages;
    uint64_t used = slot->used, check, begin = 0;
    int error = is_new ? take_place(recording, slot, room) : 0, i;

    used = slot->used;
    check = slot->check;
    for (i = 0; !error && i < 2; i++) {
        const char *data = parts[i].iov_base;
        size_t size = parts[i].iov_len,
               skip = used > begin ? (size_t)(used - begin) : 0;

        begin += size;
        if (skip >= size)
            continue;
        error = write_all(recording, data + skip, size - skip,
                          RecordingSlot_data(slot) + used);
        check = Recording_check(check, data + skip, size - skip);
        used = begin;
    }
    if (!error) {
        block->magic = RECORDING_BLOCK;
        block->at = slot->at;
        block->size = slot->pages * RECORDING_PAGE;
        block->used = used;
        block->data_check = check;
        block->check = RecordingBlock_check(block);
        error = write_all(recording, block, sizeof *block, slot->at);
    }
    if (!error) {
        slot->used = (uint32_t)used;
        slot->check = check;
    } else if (is_new && slot->pages) {
        give_back(recording, slot);
        slot->pages = 0;
    }
    return error;
}

void Recording_drop(struct Recording *recording, struct RecordingSlot *slot)
{
    static const uint64_t none;

    if (!slot->pages ||
        atomic_load_explicit(&recording->ended, memory_order_relaxed))
        return;
    write_all(recording, &none, sizeof none, slot->at);
    give_back(recording, slot);
    slot->pages = 0;
}
