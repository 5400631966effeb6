// SPDX-License-Identifier: MIT
// Holds the timeline's data of one thread (a track), which are the thread's
// newest block, its open calls, and its number of lost events. A track is freed
// when its thread has ended and its last block is forgotten. The timeline owns
// the track, and the timeline's mutex guards the track.
#pragma once

#include "ipc/base/bytes.h"
#include "tracer/timeline/recording.h"
#include "tracer/timeline/ring.h"
#include "tracer/timeline/view.h"

#define BLOCK_EVENTS 4080u // A full block has about 28 KB.

// A few thousand events of a thread, encoded as in the recording
// (event_code.h), and the calls that were open before the first event. Only the
// newest block of each thread has its data in memory.
struct Block {
    struct RecordingSlot slot; // The block's place in the recording.
    struct Track *track;
    // The neighbours of this block in the list of all blocks. The list is
    // sorted by the times at which the blocks were begun.
    struct Block *older, *newer;
    uint64_t sequence;   // Number of this block among the thread's blocks.
    uint64_t last_ticks; // Ticks at the newest event of the block.
    size_t open_count, event_count;
    size_t full; // The block is full with this number of events.
    // All data of a thread's newest block, or empty for other blocks.
    struct Bytes data;
};

struct Track {
    struct TimelineThread shown;
    // The newest block, or NULL if the next event begins a block.
    struct Block *newest;
    // Number of the thread's blocks that still exist.
    size_t blocks;
    uint64_t begun;        // Number of blocks ever begun.
    struct OpenCall *open; // The open calls, outermost first.
    size_t open_count;
    size_t open_room;
    uint64_t ticks; // Ticks at the newest event in `newest`, or 0.
    // Number of events that the ring had lost when it was last drained.
    uint64_t ring_lost;
    uint64_t marked; // Number of lost events that have an EVENT_LOST.
    // Number of lost events that Timeline_cut has marked and the ring has not
    // marked yet.
    uint64_t ahead;
    // Number of events that were dropped because memory was out.
    uint64_t dropped;
    bool ended; // True if the thread has ended.
    // The neighbours of this track in the timeline's list, which is sorted by
    // the threads' numbers.
    struct Track *previous, *next;
};

// Returns NULL if memory is out.
struct Track *Track_new(unsigned number, pid_t tid, const char *name);
void Track_free(struct Track *track);
void Track_name(struct Track *track, const char *name);
// Begins a block that contains a copy of the open calls. Returns NULL if memory
// is out.
struct Block *Track_begin_block(struct Track *track);
// Adds events to the newest block until the block is full. Returns the number
// of added events, or 0 if memory is out.
size_t Track_add(struct Track *track, const struct Event *events, size_t count);
void Block_free(struct Block *block);

// Returns the number of bytes of memory of the track, without its blocks.
static inline size_t Track_bytes(const struct Track *track)
{
    return sizeof *track + track->open_room * sizeof *track->open;
}

static inline size_t Block_bytes(const struct Block *block)
{
    return sizeof *block + block->data.capacity;
}
