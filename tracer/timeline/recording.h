// SPDX-License-Identifier: MIT
// The recording that holds a timeline (recording_format.h), in a file or in
// memory. A dead program leaves its file readable. The file is written by
// pwrite and never mapped, so a truncated file harms nobody. Only the thread
// that flushes a recording waits for the disk. Bytes that the file refuses stay
// in memory. Any thread may call these functions.
#ifndef OCULAR_TRACER_TIMELINE_RECORDING_H
#define OCULAR_TRACER_TIMELINE_RECORDING_H

#include "tracer/timeline/recording_format.h"

#include <stdbool.h>

struct Recording;

// The place of a block, and the amount of data in it. The owner of the block
// keeps it.
struct RecordingSlot {
    uint64_t at;
    uint64_t check;
    uint32_t units; // length in RECORDING_UNIT; 0: the block has no place yet
    uint32_t used;  // bytes of data
    uint32_t room;  // bytes of data that are expected; 0: unknown
};

// Creates a file without a name in the folder. Returns the recording with one
// reference, and sets *error to 0 or -errno.
struct Recording *Recording_new_unnamed(const char *folder, int *error);
// Creates a file at `path`, and locks it while this process lives. The file may
// grow to `plain` bytes if the file system has as many left, and beyond that
// while a twentieth of the file system, or 1 GiB, is left.
struct Recording *Recording_new(const char *path, uint64_t plain, int *error);
// Makes a recording without a file. Returns NULL if memory is out.
struct Recording *Recording_new_in_memory(void);
// Sets how many of the bytes that the file refuses stay in memory; 0 at first.
void Recording_set_room(struct Recording *recording, size_t bytes);
// Opens an existing recording to read it. *error is -EINVAL if `path` is no
// regular file.
struct Recording *Recording_open(const char *path, int *error);
void Recording_get(struct Recording *recording);
// Drops a reference. The last one closes the file.
void Recording_put(struct Recording *recording);
// Closes the parent's file in a forked child.
void Recording_abandon(struct Recording *recording);
// Removes the file, unless another file has its name by now.
void Recording_remove(struct Recording *recording);
// Renames the file. Returns 0 or -errno; -EEXIST: a file of that name exists.
int Recording_rename(struct Recording *recording, const char *path);
// Returns the name of the file. "": there is none.
const char *Recording_path(const struct Recording *recording);
// Returns the offset of the end.
uint64_t Recording_bytes(struct Recording *recording);
// Returns the bytes of memory that the recording takes.
size_t Recording_memory(struct Recording *recording);

// The functions from here to Recording_drop do not wait for the disk: they
// leave bytes in memory, in order, for the next flush.

// Fills in the magic number, the version and the checksum, and writes the head.
void Recording_put_head(struct Recording *recording,
                        struct RecordingHead *head);
// Appends data, whose size is a multiple of eight bytes, to a block, and then
// writes the block's header. The caller has set the header's kind, sequence,
// open_count and the fields about the thread; the other fields are filled in.
// If the block has no place yet, it gets one. Returns 0 or -errno; -ENOSPC: the
// file system is nearly full.
int Recording_append(struct Recording *recording, struct RecordingSlot *slot,
                     struct RecordingBlock *block, const void *data,
                     size_t size);
// Drops a block. Another block may get its place.
void Recording_drop(struct Recording *recording, struct RecordingSlot *slot);

// Writes the bytes that were left. Only one thread at a time flushes. If
// another thread does, this one waits for it, or returns at once if `waits` is
// false. Returns 0, or -errno if the file did not take all of the bytes.
int Recording_flush(struct Recording *recording, bool waits);
// Returns the number of bytes that are left for the next flush.
size_t Recording_waiting(const struct Recording *recording);
// Returns 0, or the -errno of the newest bytes that the file did not take.
int Recording_error(const struct Recording *recording);
// Returns whether the file has taken all bytes, so that none are in memory.
bool Recording_takes_all(struct Recording *recording);
// Returns how often the file was found truncated by a flush.
unsigned Recording_truncations(struct Recording *recording);
// Returns whether the program has closed the file.
bool Recording_is_closed(const struct Recording *recording);
// Returns whether the whole block is in memory.
bool Recording_holds(struct Recording *recording,
                     const struct RecordingSlot *slot);
// Reads bytes, also those that are left for the next flush. Returns 0 or
// -errno.
int Recording_read(struct Recording *recording, uint64_t at, void *data,
                   size_t size);
// Returns the first offset at or after `at` at which there is data. 0: there is
// none.
uint64_t Recording_seek(struct Recording *recording, uint64_t at);

static inline uint64_t RecordingSlot_size(const struct RecordingSlot *slot)
{
    return slot->units * RECORDING_UNIT;
}

// Returns whether the block has room for `size` bytes more.
static inline bool RecordingSlot_fits(const struct RecordingSlot *slot,
                                      size_t size)
{
    return RecordingSlot_size(slot) >=
           slot->used + size + sizeof(struct RecordingBlock);
}

static inline uint64_t RecordingSlot_data(const struct RecordingSlot *slot)
{
    return slot->at + sizeof(struct RecordingBlock);
}

#endif
