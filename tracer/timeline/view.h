// SPDX-License-Identifier: MIT
// What is seen of a timeline: the chunks of its lanes, frozen. Whoever writes
// one reads nothing else; any thread.
#ifndef OCULAR_TRACER_TIMELINE_VIEW_H
#define OCULAR_TRACER_TIMELINE_VIEW_H

#include "tracer/timeline/ring.h"

#include <stdbool.h>
#include <sys/types.h>

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

#endif
