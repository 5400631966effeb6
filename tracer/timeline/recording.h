// SPDX-License-Identifier: MIT
// A recording holds a timeline in a file or in memory (recording_format.h). If
// the program is killed, its file can still be read. The file is written by
// pwrite and never mapped, so truncating the file does no harm. Only the thread
// that flushes a recording waits for the disk. Bytes that the file refuses stay
// in memory. Any thread may call these functions.
#ifndef OCULAR_TRACER_TIMELINE_RECORDING_H
#define OCULAR_TRACER_TIMELINE_RECORDING_H

#include "tracer/timeline/recording_format.h"

#include <stdbool.h>

struct Recording;

// The place of a block, and the amount of data in it. The owner of the block
// keeps this struct.
struct RecordingSlot {
    uint64_t at;
    uint64_t check;
    uint32_t units; // length in RECORDING_UNIT; 0 if the block has no place yet
    uint32_t used;  // bytes of data
    uint32_t room;  // expected bytes of data; 0 if unknown
};

// Creates a file without a name in the folder. Returns the recording with one
// reference, and sets *error to 0 or -errno.
struct Recording *Recording_new_unnamed(const char *folder, int *error);
// Creates a file at `path`, and locks it while this process lives. The file may
// grow to `plain` bytes if the file system has this number of free bytes. The
// file may grow further while a twentieth of the file system, or 1 GiB, stays
// free.
struct Recording *Recording_new(const char *path, uint64_t plain, int *error);
// Makes a recording without a file. Returns NULL if memory is out.
struct Recording *Recording_new_in_memory(void);
// Sets how many bytes stay in memory if the file refuses the bytes; 0 at first.
void Recording_set_room(struct Recording *recording, size_t bytes);
// Opens an existing recording to read it. *error is -EINVAL if `path` is no
// regular file.
struct Recording *Recording_open(const char *path, int *error);
// Makes a recording of an open file to read it, and takes over the descriptor.
// *error is -EINVAL if the descriptor is no regular file.
struct Recording *Recording_adopt(int descriptor, int *error);
// Makes a recording in a file in memory (memfd), which Recording_share can give
// away.
struct Recording *Recording_new_shared(int *error);
// Copies all bytes of `from` to an empty recording. Returns 0 or -errno.
int Recording_copy(struct Recording *recording, struct Recording *from);
// Returns a new descriptor by which another process can read the file, or
// -errno. -EBADF means that some bytes are not in a file. A file in memory does
// not change any more.
int Recording_share(struct Recording *recording);
void Recording_get(struct Recording *recording);
// Drops a reference. The file is closed with the last reference.
void Recording_put(struct Recording *recording);
// Closes the parent's file in a forked child.
void Recording_abandon(struct Recording *recording);
// Removes the file, unless the name now belongs to another file. If the user
// has moved the file or made a link to it, the file keeps its contents.
void Recording_remove(struct Recording *recording);
// Renames the file. Returns 0 or -errno. -EEXIST means that `path` already
// exists.
int Recording_rename(struct Recording *recording, const char *path);
// Returns the name of the file, or "" if the file has no name.
const char *Recording_path(const struct Recording *recording);
// Returns the offset of the recording's end.
uint64_t Recording_bytes(struct Recording *recording);
// Returns the bytes of memory that the recording takes.
size_t Recording_memory(struct Recording *recording);

// The functions up to Recording_drop do not wait for the disk. These functions
// store the bytes in memory, and the next flush writes the bytes in this order.

// Fills in the magic number, the version and the checksum, and writes the head.
void Recording_put_head(struct Recording *recording,
                        struct RecordingHead *head);
// Appends data, whose size is a multiple of eight bytes, to a block, and then
// writes the block's header. The caller has set the header's kind, sequence,
// open_count and the fields about the thread. The function fills in the other
// fields. A block without a place gets a place. Returns 0 or -errno. -ENOSPC
// means that the file system is nearly full.
int Recording_append(struct Recording *recording, struct RecordingSlot *slot,
                     struct RecordingBlock *block, const void *data,
                     size_t size);
// Drops a block. Another block may then get the place of this block.
void Recording_drop(struct Recording *recording, struct RecordingSlot *slot);

// Writes the stored bytes. Only one thread at a time flushes. If another thread
// is flushing, the function waits for that thread, or returns at once if
// `waits` is false. Returns 0, or -errno if the file did not take all bytes.
int Recording_flush(struct Recording *recording, bool waits);
// Returns the number of bytes that the next flush will write.
size_t Recording_waiting(const struct Recording *recording);
// Returns the -errno of the newest write that failed, or 0.
int Recording_error(const struct Recording *recording);
// Returns true if the file has taken all bytes, so that no bytes are only in
// memory.
bool Recording_takes_all(struct Recording *recording);
// Returns how many times a flush has found the file truncated.
unsigned Recording_truncations(struct Recording *recording);
// Returns true if the program has closed the file.
bool Recording_is_closed(const struct Recording *recording);
// Returns true if the whole block is in memory.
bool Recording_holds(struct Recording *recording,
                     const struct RecordingSlot *slot);
// Returns true if a new block can get the place of this block as soon as this
// block is dropped.
bool Recording_can_reuse(struct Recording *recording,
                         const struct RecordingSlot *slot);
// Reads bytes, even if the next flush has yet to write the bytes. Returns 0 or
// -errno.
int Recording_read(struct Recording *recording, uint64_t at, void *data,
                   size_t size);
// Returns the first offset from `at` on at which there is data, or 0 if there
// is no data.
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

#endif
