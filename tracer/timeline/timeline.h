// SPDX-License-Identifier: MIT
// The flight recorder: the newest events of every thread, in chunks, within a
// byte limit. The collector adds; any thread may freeze a view and read it
// while recording goes on. When the limit is reached the oldest chunk of all
// threads is forgotten, and the timeline says so.
#ifndef OCULAR_TRACER_TIMELINE_TIMELINE_H
#define OCULAR_TRACER_TIMELINE_TIMELINE_H

#include "tracer/timeline/ring.h"

#include <stdbool.h>
#include <sys/types.h>

struct Timeline;
struct Track; // a lane's part of it

// A call that was open where a chunk begins, so that a chunk can be read
// without those before it.
struct OpenCall {
    uint32_t id;
    uint32_t level;
    uint64_t ticks; // when it was entered
};

struct TimelineChunk { // immutable once it is in a view
    unsigned lane;
    const struct OpenCall *open; // outermost first
    size_t open_count;
    const struct Event *events;
    size_t event_count;
};

struct TimelineLane {
    unsigned lane;
    pid_t tid;
    char name[64];
    uint64_t lost;      // events dropped by its ring
    uint64_t forgotten; // events dropped to stay within the limit
};

// A frozen look: chunks lane by lane, in the order of the lanes, oldest first.
struct TimelineView {
    const struct TimelineChunk *const *chunks;
    size_t chunk_count;
    const struct TimelineLane *lanes;
    size_t lane_count;
    uint64_t forgotten; // events, of all lanes, also of those that are gone
    uint64_t lost;
    uint64_t first_ticks; // covered span; 0 when empty
    uint64_t last_ticks;
    uint64_t whole_ticks; // the newest forgotten event: later, all is there
};

// NULL: memory. The limit may be passed by what cannot be forgotten: the lanes
// that have not ended, with the chunk that is being added to and the open
// calls.
struct Timeline *Timeline_new(size_t limit_bytes);
void Timeline_free(struct Timeline *timeline);
// A new lane's track, which is the timeline's. NULL: memory.
struct Track *Timeline_begin(struct Timeline *timeline, unsigned lane,
                             pid_t tid, const char *name);
// Moves all that is in the ring into the log. Collector, or whoever has
// stopped it. Events moved, or -ENOMEM (what did not fit counts as lost).
long Timeline_drain(struct Timeline *timeline, struct Track *track,
                    struct Ring *ring);
// The lane has ended and its ring is drained: the track is not the caller's to
// use any more. It goes with its last chunk, and what it lost stays counted.
void Timeline_end(struct Timeline *timeline, struct Track *track);
size_t Timeline_bytes(struct Timeline *timeline);
uint64_t Timeline_forgotten(struct Timeline *timeline);
// A view of all that has been drained, with the gap that is not marked yet, if
// the ring was full when last drained; it holds its chunks until it is freed.
// Any thread. NULL when memory is out.
struct TimelineView *Timeline_freeze(struct Timeline *timeline);
void TimelineView_free(struct TimelineView *view);

#endif
