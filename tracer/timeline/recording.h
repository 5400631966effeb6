// SPDX-License-Identifier: MIT
// A recording holds a timeline in a file or in memory (recording_format.h). If
// the program is killed, the file of its recording can still be read. Ocular
// writes the file by pwrite and never maps it, so the program is not harmed if
// the file is truncated. Only the thread that flushes a recording waits for the
// disk. Bytes that cannot be written to the file stay in memory. Any thread may
// call the functions of recording.h.
#pragma once

#include "tracer/timeline/recording_format.h"

#include <stdbool.h>

struct Recording;

// The place of a block in the file, and the amount of data in the block. Each
// block's owner has a struct RecordingSlot for it.
struct RecordingSlot {
    uint64_t at;
    uint64_t check;
    // Length in units of RECORDING_UNIT bytes, or 0 if the block has no place
    // yet.
    uint32_t units;
    uint32_t used; // Bytes of data in the block.
    uint32_t room; // Bytes of data that the block will get, or 0 if unknown.
};

// Makes a recording whose file in the folder has no name. Returns the recording
// with one reference, and stores 0 or -errno in *error.
struct Recording *Recording_new_unnamed(const char *folder, int *error);
// Makes a recording with a file at `path`, which stays locked as long as this
// process lives. The file may grow to `plain` bytes if the file system has this
// number of free bytes, and further as long as a twentieth of the file system,
// or 1 GiB, stays free.
struct Recording *Recording_new(const char *path, uint64_t plain, int *error);
// Makes a recording that is only in memory. Returns NULL if memory is out.
struct Recording *Recording_new_in_memory(void);
// Sets the largest number of bytes that stay in memory if they cannot be
// written to the file. At first no bytes may stay in memory.
void Recording_set_room(struct Recording *recording, size_t bytes);
// Opens an existing recording to read it. *error is -EINVAL if `path` is no
// regular file.
struct Recording *Recording_open(const char *path, int *error);
// Makes a recording of an open file that will be read, and takes over the
// descriptor. *error is -EINVAL if the descriptor is no regular file.
struct Recording *Recording_adopt(int descriptor, int *error);
// Makes a recording in a memfd, which Recording_share can give to another
// process.
struct Recording *Recording_new_shared(int *error);
// Copies all bytes of the recording `from` to an empty recording. Returns 0 or
// -errno.
int Recording_copy(struct Recording *recording, struct Recording *from);
// Returns a new descriptor by which another process can read the file, or
// -errno. -EBADF means that some bytes of the recording are not in a file.
// After Recording_share, a memfd does not change any more.
int Recording_share(struct Recording *recording);
void Recording_get(struct Recording *recording);
// Drops a reference to the recording. The last reference that is dropped closes
// the file.
void Recording_put(struct Recording *recording);
// Recording_lend must be called if another process may read the file after
// Recording_put has closed it.
void Recording_lend(struct Recording *recording);
// In a forked child, closes the file that the parent writes.
void Recording_abandon(struct Recording *recording);
// Removes the file, unless its name now belongs to another file. The file keeps
// its contents if the user has renamed it or made a link to it.
void Recording_remove(struct Recording *recording);
// Renames the recording's file. Returns 0 or -errno. -EEXIST means that `path`
// already exists.
int Recording_rename(struct Recording *recording, const char *path);
// Returns the name of the recording's file, or "" if the file has no name.
const char *Recording_path(const struct Recording *recording);
// Returns the offset at which the recording ends.
uint64_t Recording_bytes(struct Recording *recording);
// Returns the number of bytes of memory that the recording takes.
size_t Recording_memory(struct Recording *recording);

// Recording_put_head, Recording_append and Recording_drop do not wait for the
// disk. Recording_put_head, Recording_append and Recording_drop store bytes in
// memory, and the next flush writes the bytes in the order of the calls.

// Fills in the magic number, the version and the checksum of the head, and
// writes the head.
void Recording_put_head(struct Recording *recording,
                        struct RecordingHead *head);
// Appends data to a block and then writes the block's header. The size of the
// data is a multiple of eight bytes. The caller sets the fields `kind`,
// `sequence` and `open_count` of the header, and the fields about the thread.
// Recording_append fills in the other fields of the header. A block that has no
// place in the file yet gets a place. Returns 0 or -errno. -ENOSPC means that
// the file system is nearly full.
int Recording_append(struct Recording *recording, struct RecordingSlot *slot,
                     struct RecordingBlock *block, const void *data,
                     size_t size);
// Drops a block. Another block can get the place of the dropped block.
void Recording_drop(struct Recording *recording, struct RecordingSlot *slot);

// Writes all stored bytes to the file. Only one thread flushes at a time. If
// another thread is flushing, Recording_flush waits for that thread, or returns
// at once if `waits` is false. Returns 0, or -errno if some bytes could not be
// written to the file.
int Recording_flush(struct Recording *recording, bool waits);
// Returns the number of bytes that the next flush will write.
size_t Recording_waiting(const struct Recording *recording);
// Returns the -errno of the newest write that failed, or 0.
int Recording_error(const struct Recording *recording);
// Returns true if all bytes could be written to the file, and none is only in
// memory.
bool Recording_takes_all(struct Recording *recording);
// Returns how often a flush has found the file truncated.
unsigned Recording_truncations(struct Recording *recording);
// Returns true if the program has closed Ocular's descriptor of the file.
bool Recording_is_closed(const struct Recording *recording);
// Returns true if the whole block is in memory.
bool Recording_holds(struct Recording *recording,
                     const struct RecordingSlot *slot);
// Returns true if a new block could get the place of the block in `slot`, if
// that block were dropped.
bool Recording_can_reuse(struct Recording *recording,
                         const struct RecordingSlot *slot);
// Reads bytes of the recording, even if the next flush must still write them.
// Returns 0 or -errno.
int Recording_read(struct Recording *recording, uint64_t at, void *data,
                   size_t size);
// Returns the offset, at `at` or after it, of the next data of the recording,
// or 0 if there is no more data.
uint64_t Recording_seek(struct Recording *recording, uint64_t at);

static inline uint64_t RecordingSlot_size(const struct RecordingSlot *slot)
{
    return slot->units * RECORDING_UNIT;
}

// Returns true if `size` more bytes fit into the block.
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
