// SPDX-License-Identifier: MIT
// An append to a recording stores the appended bytes and their offset in
// memory. A flush takes all stored bytes, and writes them to the file without
// holding the mutex that an append needs. If a block was dropped, its place in
// the file goes to the next block that needs a place of this size. The program
// can close the recording's descriptor, so the descriptor is checked before
// each use (ipc/base/opened.h).
#define _GNU_SOURCE 1 // Declares O_TMPFILE, SEEK_DATA and memfd_create.
#include "tracer/timeline/recording.h"

#include "ipc/base/bytes.h"
#include "ipc/base/heap.h"
#include "ipc/base/in_place.h"
#include "ipc/base/opened.h"
#include "tracer/timeline/file_places.h"
#include "tracer/timeline/memory_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

// A twentieth of the file system stays free, but not more than SPARE_MOST.
#define SPARE_PART 20
#define SPARE_MOST (UINT64_C(1) << 30)
// At most this number of bytes of memory stays allocated between two flushes.
#define SPARE_BYTES (1u << 20)
// Number of bytes that one write copies, a multiple of the page size.
#define COPY_BYTES (64u << 10)

// The beginning of a write that no flush has carried out yet. The bytes to
// write follow it.
struct PendingWrite {
    uint64_t at;
    uint64_t size;
};

struct Recording {
    _Atomic unsigned references;
    // Guards `left`, the places in the file and the pages in memory.
    pthread_mutex_t mutex;
    // Held by the thread that flushes, and taken before `mutex`.
    pthread_mutex_t writing;
    int fd; // Descriptor of the file, or -1 if there is no file.
    struct Opened opened;
    // The process that writes the file, which no child writes that this process
    // forks.
    pid_t owner;
    // True if the newest flush has found that the program has closed `fd`. A
    // thread that appends does not look itself, because the sampler's thread
    // has no descriptors (Worker_leave_descriptors).
    _Atomic bool closed;
    bool read_only; // True if the recording was opened to convert it.
    bool lent;      // True if another process may read the file later.
    // Up to this size in bytes the file may grow even if less than a twentieth
    // of the file system stays free.
    uint64_t plain;
    uint64_t end; // Offset at which the next new place begins.
    // Largest allowed size of the file, as the newest flush has computed it.
    uint64_t most;
    struct FilePlaces places; // Places of dropped blocks.
    // Places of dropped blocks that cannot be used as long as writes to the
    // file fail.
    struct FilePlaces refused;
    // End of the bytes that were written to the file. Only the flushing thread
    // uses `reached`.
    uint64_t reached;
    _Atomic unsigned truncations;
    struct MemoryPages memory; // Pages that are not in the file.
    // Largest number of bytes that `memory` may hold. If `room` is 0, bytes
    // that could not be written to the file are lost.
    size_t room;
    // -errno of the newest write that failed, or 0 as soon as the file has all
    // bytes.
    int failing;
    // True if bytes that the file already contains cannot even be written
    // again.
    bool stuck;
    // Writes that no flush has taken yet (struct PendingWrite).
    struct Bytes left;
    // Writes of the flush that runs now (struct PendingWrite).
    struct Bytes flushed;
    _Atomic size_t waiting; // Sum of the bytes of `left` and `flushed`.
    _Atomic int error;      // -errno of the newest write that failed.
    char path[PATH_MAX];    // Name of the file, or "" if it has no name.
};

// Some file systems, like NFS, have no files without a name. If the file system
// has no files without a name, the file gets a name, which is removed at once.
// Returns the descriptor of the file, or -errno.
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

// Returns true if the calling thread can use the recording's file.
static bool is_ours(const struct Recording *recording)
{
    return recording->owner == getpid() &&
           Opened_holds(&recording->opened, recording->fd);
}

// Computes how large the file may become until the next call, so that enough of
// the file system stays free. ask_for_room is called when the file is created,
// and in each flush.
static void ask_for_room(struct Recording *recording)
{
    uint64_t spare = SPARE_MOST, most, room, bytes;
    struct statvfs system;

    if (!is_ours(recording) || fstatvfs(recording->fd, &system) < 0)
        return;
    room = (uint64_t)system.f_bavail * system.f_frsize;
    bytes = (uint64_t)system.f_blocks * system.f_frsize;
    // `bytes` is 0 for a memfd, for which only the limit of memory applies.
    if (!bytes)
        room = INT64_MAX;
    if (spare > bytes / SPARE_PART)
        spare = bytes / SPARE_PART;
    pthread_mutex_lock(&recording->mutex);
    most = recording->end + (room > spare ? room - spare : 0);
    if (most < recording->plain && room > recording->plain)
        most = recording->plain;
    recording->most = most;
    pthread_mutex_unlock(&recording->mutex);
}

static struct Recording *make_empty(void)
{
    struct Recording *recording = Heap_zeroed(1, sizeof *recording);

    if (!recording)
        return NULL;
    recording->references = 1;
    pthread_mutex_init(&recording->mutex, NULL);
    pthread_mutex_init(&recording->writing, NULL);
    recording->fd = -1;
    recording->owner = getpid();
    recording->end = RECORDING_PAGE;
    return recording;
}

// Makes a recording of an open file, and takes over the descriptor `fd`. A
// negative `fd` is an -errno, which is stored in *error.
static struct Recording *make(int fd, int *error)
{
    struct Recording *recording = fd < 0 ? NULL : make_empty();

    *error = fd < 0 ? fd : recording ? 0 : -ENOMEM;
    if (!recording) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    recording->fd = fd;
    Opened_note(&recording->opened, fd);
    ask_for_room(recording);
    return recording;
}

struct Recording *Recording_new_in_memory(void)
{
    struct Recording *recording = make_empty();

    if (!recording || !MemoryPages_add(&recording->memory, 0, RECORDING_PAGE))
        return recording;
    Recording_put(recording);
    return NULL;
}

void Recording_set_room(struct Recording *recording, size_t bytes)
{
    recording->room = bytes;
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
    // The lock tells other processes that the process lives which writes the
    // file. Some file systems have no locks, so an error of flock is ignored.
    flock(fd, LOCK_EX | LOCK_NB);
    recording->plain = plain;
    ask_for_room(recording);
    snprintf(recording->path, sizeof recording->path, "%s", path);
    return recording;
}

struct Recording *Recording_new_shared(int *error)
{
    return make(
        Opened_above(memfd_create("ocular", MFD_CLOEXEC | MFD_ALLOW_SEALING)),
        error);
}

struct Recording *Recording_open(const char *path, int *error)
{
    return Recording_adopt(Opened_open(path, O_RDONLY | O_NONBLOCK, 0), error);
}

struct Recording *Recording_adopt(int fd, int *error)
{
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

void Recording_lend(struct Recording *recording)
{
    recording->lent = true;
}

void Recording_abandon(struct Recording *recording)
{
    Opened_close(&recording->opened, recording->fd);
    recording->fd = -1;
}

// Returns true if the file has no name in any directory.
static bool is_nameless(const struct Recording *recording)
{
    struct stat status;

    return is_ours(recording) && fstat(recording->fd, &status) == 0 &&
           status.st_nlink == 0;
}

void Recording_put(struct Recording *recording)
{
    // Because of acq_rel, the thread that drops the last reference sees what
    // other threads have done.
    if (atomic_fetch_sub_explicit(&recording->references, 1,
                                  memory_order_acq_rel) > 1)
        return;
    if (*recording->path)
        Recording_flush(recording, true);
    // If a forked child has the file open, it takes space on the disk even
    // after Ocular closes it. Ocular therefore truncates the file, unless the
    // user has given it a name, or a viewer reads it.
    if (!recording->read_only && !recording->lent && is_nameless(recording) &&
        ftruncate(recording->fd, 0) < 0)
        errno = 0; // The kernel frees the file when the last process closes it.
    Opened_close(&recording->opened, recording->fd);
    FilePlaces_release(&recording->places);
    FilePlaces_release(&recording->refused);
    MemoryPages_release(&recording->memory);
    Bytes_release(&recording->left);
    Bytes_release(&recording->flushed);
    pthread_mutex_destroy(&recording->mutex);
    pthread_mutex_destroy(&recording->writing);
    Heap_free(recording);
}

// --- Name of the file --------------------------------------------------------

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
    *recording->path = '\0'; // The removed file needs no more writes.
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
    struct stat status = {0};
    uint64_t bytes;

    if (is_ours(recording) && fstat(recording->fd, &status) < 0)
        status.st_size = 0;
    pthread_mutex_lock(&recording->mutex);
    bytes = recording->memory.count ? recording->end : 0;
    pthread_mutex_unlock(&recording->mutex);
    return bytes > (uint64_t)status.st_size ? bytes : (uint64_t)status.st_size;
}

size_t Recording_memory(struct Recording *recording)
{
    size_t bytes;

    pthread_mutex_lock(&recording->mutex);
    bytes = MemoryPages_bytes(&recording->memory) + recording->left.capacity;
    pthread_mutex_unlock(&recording->mutex);
    return bytes;
}

// --- Bytes of the file -------------------------------------------------------

static bool is_closed(const struct Recording *recording)
{
    return recording->closed || recording->owner != getpid();
}

// Returns 0, or -errno if the file may not grow to `end` bytes. A write beyond
// RLIMIT_FSIZE would send SIGXFSZ to the program, which may have a handler for
// it.
static int check_limit(const struct Recording *recording, uint64_t end)
{
    struct rlimit limit;

    if (recording->read_only || is_closed(recording))
        return -EBADF;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && end > limit.rlim_cur)
        return -EFBIG;
    return end > INT64_MAX ? -EFBIG : 0;
}

static int write_file(struct Recording *recording, const void *data,
                      size_t size, uint64_t at)
{
    int error = check_limit(recording, at + size);
    size_t done = 0;

    if (!error && !is_ours(recording))
        error = -EBADF;
    while (!error && done < size) {
        ssize_t wrote = pwrite(recording->fd, (const char *)data + done,
                               size - done, (off_t)(at + done));

        if (wrote > 0)
            done += (size_t)wrote;
        else if (wrote == 0 || errno != EINTR)
            error = wrote ? -errno : -EIO;
    }
    if (at + done > recording->reached)
        recording->reached = at + done;
    return error;
}

// Reads bytes of the file, and stops at the end of the file. Returns the number
// of bytes that were read, or -errno.
static ssize_t read_file(const struct Recording *recording, void *data,
                         size_t size, uint64_t at)
{
    size_t done = 0;

    if (!is_ours(recording))
        return -EBADF;
    while (done < size) {
        ssize_t got = pread(recording->fd, (char *)data + done, size - done,
                            (off_t)(at + done));

        if (got > 0)
            done += (size_t)got;
        else if (got == 0)
            break;
        else if (errno != EINTR)
            return -errno;
    }
    return (ssize_t)done;
}

// Returns true if the file already contains all bytes of the range. Bytes that
// the file already contains take no space on the disk if they are written
// again.
static bool is_backed(const struct Recording *recording, uint64_t at,
                      uint64_t size)
{
    off_t hole =
        is_ours(recording) ? lseek(recording->fd, (off_t)at, SEEK_HOLE) : -1;

    return hole >= 0 && (uint64_t)hole >= at + size;
}

// --- Bytes in memory ---------------------------------------------------------

// Returns true if all bytes of the range are in memory. The caller holds
// Recording.mutex.
static bool holds(const struct Recording *recording, uint64_t at, uint64_t size)
{
    uint64_t end = at + size;

    while (at < end && MemoryPages_find(&recording->memory, at))
        at = (at / RECORDING_PAGE + 1) * RECORDING_PAGE;
    return at >= end;
}

// Moves a page that cannot be written to the file into memory. The bytes that
// the file already has in this page are copied. The caller holds
// Recording.mutex. Returns 0 or -errno.
static int move_page(struct Recording *recording, uint64_t at)
{
    uint64_t page = at / RECORDING_PAGE * RECORDING_PAGE;
    int error = recording->room
                    ? MemoryPages_add(&recording->memory, page, RECORDING_PAGE)
                    : -EIO;

    if (!error)
        read_file(recording, MemoryPages_find(&recording->memory, page),
                  RECORDING_PAGE, page);
    return error;
}

// Writes bytes of one page to the page in memory. If the file has refused the
// bytes (`error`), the page is first moved to memory. Returns false if the page
// is not in memory afterwards.
static bool write_memory(struct Recording *recording, const void *data,
                         size_t size, uint64_t at, int error)
{
    uint8_t *page;

    pthread_mutex_lock(&recording->mutex);
    page = MemoryPages_find(&recording->memory, at);
    if (!page && error) {
        recording->stuck |= is_backed(recording, at, size);
        if (!move_page(recording, at))
            page = MemoryPages_find(&recording->memory, at);
    }
    if (page)
        memcpy(page, data, size);
    pthread_mutex_unlock(&recording->mutex);
    return page;
}

bool Recording_takes_all(struct Recording *recording)
{
    bool all;

    pthread_mutex_lock(&recording->mutex);
    all = !recording->memory.count;
    pthread_mutex_unlock(&recording->mutex);
    return all;
}

// Writes bytes again to pages that another thread has moved to memory while the
// bytes were written to the file.
static void write_moved(struct Recording *recording, const uint8_t *data,
                        size_t size, uint64_t at)
{
    size_t part;

    for (; size && !Recording_takes_all(recording);
         data += part, at += part, size -= part) {
        part = MemoryPages_part(at, size);
        write_memory(recording, data, part, at, 0);
    }
}

// Writes all bytes with one write, or page by page if some pages are in memory.
// Returns 0, or -errno if some of the bytes could not be written to the file.
static int write_all(struct Recording *recording, const uint8_t *data,
                     size_t size, uint64_t at)
{
    bool by_page = !Recording_takes_all(recording);
    int error = 0, failed = 0;
    size_t part;

    for (; size; data += part, at += part, size -= part) {
        part = by_page ? MemoryPages_part(at, size) : size;
        if (by_page && write_memory(recording, data, part, at, 0))
            continue;
        error = write_file(recording, data, part, at);
        if (!error) {
            write_moved(recording, data, part, at);
            continue;
        }
        failed = error;
        if (by_page)
            write_memory(recording, data, part, at, error);
        else
            part = 0; // Check this page again.
        by_page = true;
    }
    return failed;
}

// Tries again to write the pages in memory to the file, until a write fails or
// all are in the file. Only the thread that flushes moves pages from memory to
// the file.
static void give_to_file(struct Recording *recording)
{
    uint64_t at = 0;

    for (;; at += RECORDING_PAGE) {
        const uint8_t *page;

        pthread_mutex_lock(&recording->mutex);
        at = MemoryPages_next(&recording->memory, at);
        page = MemoryPages_find(&recording->memory, at);
        pthread_mutex_unlock(&recording->mutex);
        if (!page || at + RECORDING_PAGE > recording->most ||
            write_file(recording, page, RECORDING_PAGE, at))
            return;
        pthread_mutex_lock(&recording->mutex);
        MemoryPages_remove(&recording->memory, at);
        pthread_mutex_unlock(&recording->mutex);
    }
}

int Recording_read(struct Recording *recording, uint64_t at, void *data,
                   size_t size)
{
    uint8_t *to = data;
    bool by_page;
    size_t part;

    if (atomic_load_explicit(&recording->waiting, memory_order_acquire))
        Recording_flush(recording, true);
    by_page = !Recording_takes_all(recording);
    for (; size; to += part, at += part, size -= part) {
        const uint8_t *page;

        part = by_page ? MemoryPages_part(at, size) : size;
        pthread_mutex_lock(&recording->mutex);
        page = MemoryPages_find(&recording->memory, at);
        if (page)
            memcpy(to, page, part);
        pthread_mutex_unlock(&recording->mutex);
        if (!page) {
            ssize_t got = read_file(recording, to, part, at);

            if (got < (ssize_t)part)
                return got < 0 ? (int)got : -EIO;
        }
    }
    return 0;
}

int Recording_copy(struct Recording *recording, struct Recording *from)
{
    uint64_t at = 0, end = Recording_bytes(from);
    uint8_t part[COPY_BYTES];
    size_t i, size;
    int error = 0;

    do {
        size = end - at < sizeof part ? (size_t)(end - at) : sizeof part;
        // A block is not complete if one of its pages cannot be read
        // completely.
        memset(part, 0, size);
        for (i = 0; i < size; i += RECORDING_PAGE)
            Recording_read(from, at + i, part + i,
                           MemoryPages_part(at + i, size - i));
        error = write_file(recording, part, size, at);
        at = Recording_seek(from, at + sizeof part) / RECORDING_PAGE *
             RECORDING_PAGE;
    } while (!error && at && at < end);
    recording->end =
        (end + RECORDING_PAGE - 1) / RECORDING_PAGE * RECORDING_PAGE;
    return error;
}

int Recording_share(struct Recording *recording)
{
    char path[64];

    if (!Recording_takes_all(recording) || !is_ours(recording))
        return -EBADF;
    // Only a memfd has seals. For other files, this call does nothing.
    fcntl(recording->fd, F_ADD_SEALS,
          F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
    snprintf(path, sizeof path, "/proc/thread-self/fd/%d", recording->fd);
    return Opened_open(path, O_RDONLY, 0);
}

uint64_t Recording_seek(struct Recording *recording, uint64_t at)
{
    off_t found = is_ours(recording)
                      ? lseek(recording->fd, (off_t)at, SEEK_DATA)
                      : (off_t)-1;
    uint64_t kept, place = found < 0 ? UINT64_MAX : (uint64_t)found;

    pthread_mutex_lock(&recording->mutex);
    kept = MemoryPages_next(&recording->memory, at);
    pthread_mutex_unlock(&recording->mutex);
    place = kept < place ? kept : place;
    return place == UINT64_MAX ? 0 : place;
}

// --- Bytes that wait for a flush ---------------------------------------------

// Stores bytes that the next flush will write. Without a file, the bytes are
// written to the pages in memory at once. The caller holds Recording.mutex. The
// next flush returns the error if memory is out.
static void leave(struct Recording *recording, const void *data, size_t size,
                  uint64_t at)
{
    const struct PendingWrite write = {at, size};
    const uint8_t *from = data;
    size_t part;

    for (; recording->fd < 0 && size; from += part, at += part, size -= part) {
        part = MemoryPages_part(at, size);
        memcpy(MemoryPages_find(&recording->memory, at), from, part);
    }
    if (recording->fd < 0)
        return;
    Bytes_put(&recording->left, &write, sizeof write);
    Bytes_put(&recording->left, data, size);
    atomic_store_explicit(&recording->waiting,
                          recording->left.size + recording->flushed.size,
                          memory_order_release);
}

// Returns 0, -errno of a write to the file, or -ENOMEM.
static int write_left(struct Recording *recording)
{
    const struct Bytes *flushed = &recording->flushed;
    struct PendingWrite write;
    size_t at = 0;
    int error = flushed->error, failed;

    while (!flushed->error && at < flushed->size) {
        memcpy(&write, flushed->data + at, sizeof write);
        at += sizeof write;
        failed = write_all(recording, flushed->data + at, write.size, write.at);
        at += write.size;
        error = failed ? failed : error;
    }
    return error;
}

// If the file is shorter than the end of the written bytes, counts a
// truncation. Only the thread that flushes calls see_truncation.
static void see_truncation(struct Recording *recording)
{
    struct stat status;
    uint64_t size;

    if (!is_ours(recording) || fstat(recording->fd, &status) < 0)
        return;
    size = (uint64_t)status.st_size;
    if (size < recording->reached)
        atomic_fetch_add_explicit(&recording->truncations, 1,
                                  memory_order_relaxed);
    recording->reached = size;
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
    recording->closed |= recording->fd >= 0 && !is_ours(recording);
    pthread_mutex_lock(&recording->mutex);
    taken = recording->left;
    recording->left = recording->flushed;
    recording->flushed = taken;
    pthread_mutex_unlock(&recording->mutex);
    if (recording->flushed.size)
        ask_for_room(recording);
    see_truncation(recording);
    if (recording->fd >= 0)
        give_to_file(recording);
    error = write_left(recording);
    if (error)
        atomic_store_explicit(&recording->error, error, memory_order_relaxed);
    pthread_mutex_lock(&recording->mutex);
    if (error || !recording->memory.count)
        recording->failing = error;
    if (!recording->failing) {
        recording->stuck = false;
        FilePlaces_move(&recording->places, &recording->refused);
    }
    Bytes_clear(&recording->flushed);
    if (recording->flushed.capacity > SPARE_BYTES)
        Bytes_release(&recording->flushed);
    if (!error && recording->fd >= 0 && recording->memory.count)
        error = recording->error;
    atomic_store_explicit(&recording->waiting, recording->left.size,
                          memory_order_release);
    pthread_mutex_unlock(&recording->mutex);
    pthread_mutex_unlock(&recording->writing);
    return error;
}

unsigned Recording_truncations(struct Recording *recording)
{
    return atomic_load_explicit(&recording->truncations, memory_order_relaxed);
}

bool Recording_is_closed(const struct Recording *recording)
{
    return recording->fd >= 0 && is_closed(recording);
}

bool Recording_holds(struct Recording *recording,
                     const struct RecordingSlot *slot)
{
    bool held;

    pthread_mutex_lock(&recording->mutex);
    held =
        holds(recording, slot->at, sizeof(struct RecordingBlock) + slot->used);
    pthread_mutex_unlock(&recording->mutex);
    return held;
}

bool Recording_can_reuse(struct Recording *recording,
                         const struct RecordingSlot *slot)
{
    uint64_t used = sizeof(struct RecordingBlock) + slot->used;
    bool can;

    pthread_mutex_lock(&recording->mutex);
    can =
        slot->units && (!recording->stuck || holds(recording, slot->at, used));
    pthread_mutex_unlock(&recording->mutex);
    return can;
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

// Returns 0, or -errno if the file cannot be written up to the offset `end`.
// The caller holds Recording.mutex.
static int check_file(struct Recording *recording, uint64_t end)
{
    int error = check_limit(recording, end);

    if (!error && end > recording->most && end > recording->end)
        error = -ENOSPC;
    error = error ? error : recording->failing;
    if (error && recording->fd >= 0)
        atomic_store_explicit(&recording->error, error, memory_order_relaxed);
    return error;
}

// Returns true if a block can be written to the place `at` of a dropped block.
// `used` is the number of bytes that the block needs in this place. If the file
// refuses the bytes, the place is moved to memory, unless this would exceed the
// limit of memory. The caller holds Recording.mutex.
static bool can_write(struct Recording *recording, uint64_t at, uint64_t size,
                      uint64_t used)
{
    struct MemoryPages *memory = &recording->memory;
    uint64_t page, end = at + size;

    if (recording->fd < 0)
        return MemoryPages_add(memory, at, size) == 0;
    if (holds(recording, at, used))
        return true;
    if (!check_limit(recording, end) &&
        (!recording->failing ||
         (!recording->stuck && is_backed(recording, at, used))))
        return true;
    // Without the file's descriptor, the sampler's thread cannot copy bytes of
    // the file to memory.
    if (MemoryPages_bytes(memory) + size > recording->room ||
        (recording->fd >= 0 && !recording->closed && !is_ours(recording)))
        return false;
    for (page = at / RECORDING_PAGE * RECORDING_PAGE; page < end;
         page += RECORDING_PAGE)
        if (!MemoryPages_find(memory, page) && move_page(recording, page))
            return false;
    return true;
}

// Takes the place of a dropped block. Returns false if no place of a dropped
// block can be written. The caller holds Recording.mutex.
static bool take_dropped(struct Recording *recording, bool larger,
                         uint64_t used, uint64_t *units, uint64_t *at)
{
    uint64_t wanted = *units;

    while (FilePlaces_take(&recording->places, larger, units, at)) {
        if (can_write(recording, *at, *units * RECORDING_UNIT, used))
            return true;
        FilePlaces_give(&recording->refused, *units, *at);
        *units = wanted;
    }
    return false;
}

// Returns true if two neighbouring free places are both in memory or both in
// the file, so that they may be joined. If the places may be joined, clears the
// headers of the dropped blocks, because a reader skips as many bytes as a
// header says.
static bool may_join(void *context, uint64_t first, uint64_t second)
{
    static const struct RecordingBlock none;
    struct Recording *recording = context;

    if (!MemoryPages_find(&recording->memory, first) !=
        !MemoryPages_find(&recording->memory, second))
        return false;
    leave(recording, &none, sizeof none, first);
    leave(recording, &none, sizeof none, second);
    return true;
}

// Takes the place of a larger dropped block. If no place is large enough, joins
// neighbours, because the blocks of a timeline do not always have the same
// size. Returns false if no place is large enough even after neighbours were
// joined. The caller holds Recording.mutex.
static bool take_larger(struct Recording *recording, uint64_t used,
                        uint64_t *units, uint64_t *at)
{
    return take_dropped(recording, true, used, units, at) ||
           (recording->fd >= 0 &&
            FilePlaces_join(&recording->places, may_join, recording) &&
            take_dropped(recording, true, used, units, at));
}

// Takes a new place at the end of the file. If the file refuses the new place,
// the place is made of pages in memory. The memory for chunks (blocks with
// events) is limited, but the few blocks of other kinds always get memory.
// Returns 0 or -errno. The caller holds Recording.mutex.
static int take_new(struct Recording *recording, uint64_t units, bool is_chunk,
                    uint64_t *at)
{
    const uint64_t rest = RECORDING_PAGE - 1;
    uint64_t size = units * RECORDING_UNIT;
    int error = check_file(recording, recording->end + size), added;

    if (error) {
        if (recording->fd >= 0) {
            recording->end = (recording->end + rest) & ~rest;
            size = (size + rest) & ~rest;
            if (!recording->room ||
                (is_chunk && MemoryPages_bytes(&recording->memory) + size >
                                 recording->room))
                return error;
        }
        added = MemoryPages_add(&recording->memory, recording->end, size);
        if (added)
            return added;
    }
    *at = recording->end;
    recording->end += size;
    return 0;
}

// Takes a place for a block and returns 0 or -errno. The caller holds
// Recording.mutex.
static int take_place(struct Recording *recording, struct RecordingSlot *slot,
                      bool is_chunk, size_t room)
{
    uint64_t used = room + sizeof(struct RecordingBlock);
    uint64_t units =
        FilePlaces_units((used + RECORDING_UNIT - 1) / RECORDING_UNIT);
    uint64_t *at = &slot->at;
    int error = units ? 0 : -EFBIG;

    if (!error && !take_dropped(recording, false, used, &units, at))
        error = take_new(recording, units, is_chunk, at);
    if (error && (!units || !take_larger(recording, used, &units, at)))
        return error;
    slot->units = (uint32_t)units;
    slot->used = 0;
    slot->check = RECORDING_SEED;
    return 0;
}

int Recording_append(struct Recording *recording, struct RecordingSlot *slot,
                     struct RecordingBlock *block, const void *data,
                     size_t size)
{
    int error = recording->owner == getpid() ? 0 : -EBADF;

    pthread_mutex_lock(&recording->mutex);
    if (!error && !slot->units)
        error = take_place(recording, slot, block->kind == RECORDING_CHUNK,
                           size > slot->room ? size : slot->room);
    if (!error) {
        if (size)
            leave(recording, data, size, RecordingSlot_data(slot) + slot->used);
        slot->used += (uint32_t)size;
        slot->check = Recording_check(slot->check, data, size);
        block->magic = RECORDING_BLOCK;
        block->at = slot->at;
        block->size = RecordingSlot_size(slot);
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

    if (!slot->units || recording->owner != getpid())
        return;
    pthread_mutex_lock(&recording->mutex);
    leave(recording, &none, sizeof none, slot->at);
    if (recording->fd < 0)
        MemoryPages_drop(&recording->memory, slot->at,
                         RecordingSlot_size(slot));
    // If the program has closed the file, a place can be used again only if it
    // is in memory.
    if (!Recording_is_closed(recording) ||
        MemoryPages_find(&recording->memory, slot->at))
        FilePlaces_give(&recording->places, slot->units, slot->at);
    pthread_mutex_unlock(&recording->mutex);
    slot->units = 0;
}
