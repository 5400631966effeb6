// SPDX-License-Identifier: MIT
// A piece of one thread's timeline: some thousand events and the calls that
// were open before them. It grows while it is the thread's newest and never
// changes afterwards; timeline and views share it by reference count.
#ifndef OCULAR_TRACER_TIMELINE_CHUNK_H
#define OCULAR_TRACER_TIMELINE_CHUNK_H

#include "tracer/timeline/view.h"

#define CHUNK_EVENTS 4092u // 64 KiB with what the heap puts before them

struct Chunk {
    struct TimelineChunk shown; // first: views point to it
    _Atomic unsigned references;
    size_t room; // events it has memory for
    size_t full; // events it may grow to
    struct Event *events;
    struct OpenCall *open;
    struct Chunk *next; // the thread's next newer one
};

// Empty, with copies of the open calls and one reference. NULL: memory.
struct Chunk *Chunk_new(unsigned number, const struct OpenCall *open,
                        size_t open_count, size_t room);
int Chunk_grow(struct Chunk *chunk); // 0 or -ENOMEM
void Chunk_fit(struct Chunk *chunk); // gives back the room it does not use
void Chunk_get(struct Chunk *chunk);
void Chunk_put(struct Chunk *chunk); // frees it with the last reference
size_t Chunk_bytes(const struct Chunk *chunk);
uint64_t Chunk_last_ticks(const struct Chunk *chunk); // 0 when empty

#endif
