// SPDX-License-Identifier: MIT
// The frozen chunks of a timeline's threads. The writer of a file reads nothing
// else; any thread.
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

struct Recording;

struct TimelineChunk {           // immutable once it is in a view
    unsigned thread;             // its number
    const struct OpenCall *open; // outermost first
    size_t open_count;
    const struct Event *events;
    struct Recording *file; // NULL, or the one that both are in, one behind the
                            // other, the events as event_code.h has them:
    uint64_t at;            // where,
    size_t size;            // and how many bytes
    size_t event_count;
};

static inline size_t
TimelineChunk_event_bytes(const struct TimelineChunk *chunk)
{
    return chunk->event_count * sizeof *chunk->events;
}

static inline size_t TimelineChunk_open_bytes(const struct TimelineChunk *chunk)
{
    return chunk->open_count * sizeof *chunk->open;
}

struct TimelineThread {
    unsigned number;
    pid_t tid;
    char name[64];
    uint64_t lost;      // events dropped by its ring
    uint64_t forgotten; // events dropped to stay within the limit
};

// A frozen copy. The chunks are ordered by their thread's number, and each
// thread's from the oldest on.
struct TimelineView {
    const struct TimelineChunk *const *chunks;
    size_t chunk_count;
    const struct TimelineThread *threads;
    size_t thread_count;
    uint64_t forgotten; // events, of all threads, also of those that are gone
    uint64_t lost;
    uint64_t first_ticks; // covered span; 0 when empty
    uint64_t last_ticks;
    uint64_t whole_ticks; // the newest forgotten event: later, all is there
};

#endif
