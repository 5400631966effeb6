// SPDX-License-Identifier: MIT
// Holds one thread's part of the timeline, which is the thread's newest block,
// its open calls, and its number of lost events. A track is freed when its
// thread has ended and its last block is forgotten. The timeline owns the
// track, and the timeline's mutex guards the track.
#ifndef OCULAR_TRACER_TIMELINE_TRACK_H
#define OCULAR_TRACER_TIMELINE_TRACK_H

#include "ipc/base/bytes.h"
#include "tracer/timeline/recording.h"
#include "tracer/timeline/ring.h"
#include "tracer/timeline/view.h"

#define BLOCK_EVENTS 4080u // about 28 KB

// A few thousand events, encoded as in the recording (event_code.h), and the
// calls that were open before the first event. Only a thread's newest block is
// in memory.
struct Block {
    struct RecordingSlot slot; // place of the block in the recording
    struct Track *track;
    // Neighbours in the list of all threads' blocks. The list is sorted by the
    // time at which a block was begun.
    struct Block *older, *newer;
    uint64_t sequence;   // number of the block among the thread's blocks
    uint64_t last_ticks; // time of the newest event
    size_t open_count, event_count;
    size_t full;       // number of events at which the block ends
    struct Bytes data; // whole data of a thread's newest block, or empty
};

struct Track {
    struct TimelineThread shown;
    struct Block *newest;  // NULL if the next event begins a block
    size_t blocks;         // number of blocks that are not forgotten
    uint64_t begun;        // number of blocks ever begun
    struct OpenCall *open; // outermost first
    size_t open_count;
    size_t open_room;
    uint64_t ticks; // time of the newest event of `newest`, or 0
    // Events that the ring had lost when the ring was last drained.
    uint64_t ring_lost;
    uint64_t marked;  // lost events that are marked by EVENT_LOST.
    uint64_t ahead;   // lost events that a cut has marked and the ring has not.
    uint64_t dropped; // events that were dropped because memory was out
    bool ended;       // true if the thread has ended
    // Neighbours in the timeline's list, which is sorted by number.
    struct Track *previous, *next;
};

// Returns NULL if memory is out.
struct Track *Track_new(unsigned number, pid_t tid, const char *name);
void Track_free(struct Track *track);
void Track_name(struct Track *track, const char *name);
// Begins a block with a copy of the open calls. Returns NULL if memory is out.
struct Block *Track_begin_block(struct Track *track);
// Adds events to the newest block until the block is full. Returns the number
// of added events, or 0 if memory is out.
size_t Track_add(struct Track *track, const struct Event *events, size_t count);
void Block_free(struct Block *block);

// Returns the bytes of the track's memory, without the blocks.
static inline size_t Track_bytes(const struct Track *track)
{
    return sizeof *track + track->open_room * sizeof *track->open;
}

static inline size_t Block_bytes(const struct Block *block)
{
    return sizeof *block + block->data.capacity;
}

#endif
