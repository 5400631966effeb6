// SPDX-License-Identifier: MIT
// Describes the chunks of a recording's threads, from which the writers of
// files take all events.
#ifndef OCULAR_TRACER_TIMELINE_VIEW_H
#define OCULAR_TRACER_TIMELINE_VIEW_H

#include "tracer/timeline/ring.h"

#include <stdbool.h>
#include <sys/types.h>

// A call that was open at the beginning of a chunk. With the open calls a chunk
// can be read without the earlier chunks.
struct OpenCall {
    uint32_t id;
    uint32_t level;
    uint64_t ticks; // time at which the call began
};

struct Recording;

// A block of a recording. The block's data is first the open calls, beginning
// with the outermost call, and then the events, encoded by event_code.h.
struct TimelineChunk {
    unsigned thread; // number of the thread
    size_t open_count, event_count;
    uint64_t first_ticks,
        last_ticks; // times of the chunk's first and last event, or 0
    struct Recording *file;
    uint64_t at;       // offset of the data in the file
    size_t size;       // bytes of the data
    uint64_t check;    // checksum of the data
    uint64_t sequence; // number of the chunk among the thread's chunks
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
    uint64_t lost;      // events that the thread's ring dropped
    uint64_t forgotten; // events that were forgotten because of the limit
};

// The chunks are sorted by the thread's number. The chunks of a thread are
// sorted from the oldest to the newest.
struct TimelineView {
    const struct TimelineChunk *const *chunks;
    size_t chunk_count;
    const struct TimelineThread *threads;
    size_t thread_count;
    // Forgotten events of all threads, including ended threads.
    uint64_t forgotten;
    uint64_t lost;
    uint64_t first_ticks; // first and last time of all events; 0 if there are
                          // no events
    uint64_t last_ticks;
    uint64_t whole_ticks; // time of the newest forgotten event; later events
                          // are complete
};

#endif
