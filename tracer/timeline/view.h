// SPDX-License-Identifier: MIT
// Describes the chunks (blocks with events of one thread) of a recording, from
// which the writers of files take all events.
#pragma once

#include "tracer/timeline/ring.h"

#include <sys/types.h>

// A call that was open when a chunk began. Because of the open calls, a reader
// can read a chunk without the thread's earlier chunks.
struct OpenCall {
    uint32_t id;
    uint32_t level;
    uint64_t ticks; // Ticks at which the call began.
};

struct Recording;

// A block of a recording with events of one thread. The data of a chunk is
// first the open calls, outermost first, and then the events, encoded by
// event_code.h.
struct TimelineChunk {
    unsigned thread; // Number of the chunk's thread.
    size_t open_count, event_count;
    uint64_t first_ticks,
        last_ticks; // Ticks at the chunk's first and last event, or 0.
    struct Recording *file;
    uint64_t at;       // Offset of the chunk's data in the file.
    size_t size;       // Size of the chunk's data in bytes.
    uint64_t check;    // Checksum of the chunk's data.
    uint64_t sequence; // Number of the chunk among the thread's chunks.
};

struct TimelineThread {
    unsigned number;
    pid_t tid;
    char name[64];
    uint64_t lost; // Number of events that the thread's ring has dropped.
    // Number of the thread's events that were forgotten because of the limit.
    uint64_t forgotten;
};

// The chunks in a TimelineView are sorted by the numbers of their threads. The
// chunks of one thread are sorted from the oldest to the newest.
struct TimelineView {
    const struct TimelineChunk *const *chunks;
    size_t chunk_count;
    const struct TimelineThread *threads;
    size_t thread_count;
    // Number of forgotten events of all threads, also of ended threads.
    uint64_t forgotten;
    uint64_t lost;
    // Ticks at the first and at the last of all events, or 0 if there are no
    // events.
    uint64_t first_ticks;
    uint64_t last_ticks;
    // Ticks at the newest forgotten event. No event is missing after the newest
    // forgotten event.
    uint64_t whole_ticks;
};
