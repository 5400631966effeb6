// SPDX-License-Identifier: MIT
// The chunks of a recording's threads. The writers of files read nothing else.
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

// A block of a recording. Its data is the open calls, outermost first, and then
// the events as event_code.h has them.
struct TimelineChunk {
    unsigned thread; // its number
    size_t open_count, event_count;
    uint64_t first_ticks, last_ticks; // of its events; 0: it has none
    struct Recording *file;
    uint64_t at;       // offset of the data in the file
    size_t size;       // bytes of the data
    uint64_t check;    // checksum of the data
    uint64_t sequence; // place of the chunk among those of its thread
};

static inline size_t
TimelineChunk_event_bytes(const struct TimelineChunk *chunk)
{
    return chunk->event_count * sizeof(struct Event);
}

static inline size_t TimelineChunk_open_bytes(const struct TimelineChunk *chunk)
{
    return chunk->open_count * sizeof(struct OpenCall);
}

struct TimelineThread {
    unsigned number;
    pid_t tid;
    char name[64];
    uint64_t lost;      // events dropped by its ring
    uint64_t forgotten; // events dropped to stay within the limit
};

// The chunks are ordered by the number of their thread, and those of a thread
// from the oldest to the newest.
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
