// SPDX-License-Identifier: MIT
// One thread's part of the timeline: its chunks, oldest first, the open calls,
// the lost events. Lives until its thread has ended and its last chunk is
// forgotten. The timeline's, under its mutex.
#ifndef OCULAR_TRACER_TIMELINE_TRACK_H
#define OCULAR_TRACER_TIMELINE_TRACK_H

#include "tracer/timeline/chunk.h"

struct Track {
    struct TimelineThread shown;
    struct Chunk *oldest;
    struct Chunk *newest;  // being filled
    struct Chunk *spilled; // the newest whose events are in a file, as are
                           // those of all before it; or NULL
    struct OpenCall *open;
    size_t open_count;
    size_t open_room;
    uint64_t ring_lost; // the ring's own count, when last drained
    uint64_t marked;    // of these, by EVENT_LOST events
    uint64_t dropped;   // by us, memory being out
    uint64_t chunks;    // that were made
    size_t bytes;       // of all this
    bool ended;         // nothing more is coming

    // The timeline's.
    struct Track *previous; // in order of the threads' numbers
    struct Track *next;
    uint64_t age; // in its heap
    size_t place;
};

// NULL: memory.
struct Track *Track_new(unsigned number, pid_t tid, const char *name);
void Track_free(struct Track *track);
void Track_name(struct Track *track, const char *name);
// 0 or -ENOMEM.
int Track_add(struct Track *track, const struct Event *event);
// Its thread has ended: gives back memory that only more events would need.
void Track_end(struct Track *track);
// The oldest chunk whose events are in memory, or NULL.
struct Chunk *Track_resident(const struct Track *track);
// Moves that one's events to the file. 0 or -errno, as Chunk_spill's.
int Track_spill(struct Track *track, struct Recording *recording);
// Drops the oldest chunk.
void Track_forget(struct Track *track);
// For a view: the newest chunk as it is now, and a mark of what was lost since;
// without its events if they are in a file or forgotten. A reference, which
// is the caller's. NULL: memory.
struct Chunk *Track_show_newest(const struct Track *track);

#endif
