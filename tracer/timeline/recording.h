// SPDX-License-Identifier: MIT
// The file that a timeline is recorded to, which a dead program leaves readable
// (recording_format.h), and which takes what memory has no room for. It is
// written by pwrite and never mapped: whoever truncates it harms nobody. Nobody
// waits for the disk but who flushes it. The timeline and each chunk that is in
// it have a reference. Any thread.
#ifndef OCULAR_TRACER_TIMELINE_RECORDING_H
#define OCULAR_TRACER_TIMELINE_RECORDING_H

#include "tracer/timeline/recording_format.h"

#include <stdbool.h>

struct Recording;

// The place of a block, and how much of it is written. It is the appender's.
struct RecordingSlot {
    uint64_t at;
    uint64_t check;
    uint32_t pages; // 0: there is none yet
    uint32_t used;  // bytes of data
};

// A new file without a name in this folder, which is not kept. With one
// reference; *error is 0 or -errno.
struct Recording *Recording_new_unnamed(const char *folder, int *error);
// A new file of that name, with a lock for as long as this process lives. Up to
// `plain` bytes it is written while the file system has as many left, beyond
// that while a twentieth of it, or 1 GiB, is left.
struct Recording *Recording_new(const char *path, uint64_t plain, int *error);
// One that is there, to be read. Only a regular file is opened, else it is
// -EINVAL.
struct Recording *Recording_open(const char *path, int *error);
void Recording_get(struct Recording *recording);
void Recording_put(struct Recording *recording); // closes it with the last
// Nothing is written any more, and what is dropped does not matter.
void Recording_end(struct Recording *recording);
// In a forked child: its parent's file is not kept by it.
void Recording_abandon(struct Recording *recording);
// Removes the file, if it is still the one of that name.
void Recording_remove(struct Recording *recording);
// Gives it another name. 0 or -errno, -EEXIST where something has that.
int Recording_rename(struct Recording *recording, const char *path);
const char *Recording_path(const struct Recording *recording); // "": unnamed
uint64_t Recording_bytes(struct Recording *recording); // as it is on the disk

// Nothing of what follows waits for the disk: bytes are left in memory, in
// order, for the next flush.
//
// The head; magic, version and check are filled in.
void Recording_put_head(struct Recording *recording,
                        struct RecordingHead *head);
// Appends that data, a multiple of eight bytes, to the block, and then its
// header: of that kind, sequence, thread and so on, and all else is filled in.
// A block is made if there is none. 0 or -errno: -ENOSPC too little is left of
// the file system, or what the newest flush ended with.
int Recording_append(struct Recording *recording, struct RecordingSlot *slot,
                     struct RecordingBlock *block, const void *data,
                     size_t size);
// The block is not needed any more; the next one may have its place.
void Recording_drop(struct Recording *recording, struct RecordingSlot *slot);
// Writes what was left. One thread at a time: another one `waits` for it, or
// leaves it to that. 0 or -errno; then what could not be written is given up.
int Recording_flush(struct Recording *recording, bool waits);
size_t Recording_waiting(const struct Recording *recording); // bytes
int Recording_error(const struct Recording *recording); // the newest flush's
// What was left, too. 0 or -errno.
int Recording_read(struct Recording *recording, uint64_t at, void *data,
                   size_t size);
// The next place at or after this one with data; 0: there is none.
uint64_t Recording_seek(const struct Recording *recording, uint64_t at);

// May so many bytes be appended to the block?
static inline bool RecordingSlot_fits(const struct RecordingSlot *slot,
                                      size_t size)
{
    return slot->pages * RECORDING_PAGE >=
           slot->used + size + sizeof(struct RecordingBlock);
}

static inline uint64_t RecordingSlot_data(const struct RecordingSlot *slot)
{
    return slot->at + sizeof(struct RecordingBlock);
}

#endif
