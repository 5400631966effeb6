// SPDX-License-Identifier: MIT
// A piece of one thread's timeline: some thousand events and the calls that
// were open before them. It grows while it is the thread's newest and never
// changes afterwards; timeline and views share it by reference count. Its
// events may be in a file: that is another chunk, which takes its place.
#ifndef OCULAR_TRACER_TIMELINE_CHUNK_H
#define OCULAR_TRACER_TIMELINE_CHUNK_H

#include "tracer/timeline/recording.h"
#include "tracer/timeline/view.h"

// 64 KiB with what the heap puts before them, and in a file with the header and
// the calls that are open.
#define CHUNK_EVENTS 4080u

struct Chunk {
    struct TimelineChunk shown; // first: views point to it
    _Atomic unsigned references;
    size_t room;                      // events it has memory for
    size_t full;                      // events it may grow to
    uint64_t first_ticks, last_ticks; // of events that are in a file alone
    uint64_t sequence;                // of its thread's
    struct Recording *recording;      // that it has been written to; or NULL
    struct RecordingSlot slot;        // where, and how much of it:
    size_t saved;                     // events,
    uint64_t saved_ticks;             // and when the newest of them was
    struct Event *events;
    struct OpenCall *open;
    struct Chunk *next; // the thread's next newer one
};

// Empty, with copies of the open calls and one reference. NULL: memory.
struct Chunk *Chunk_new(unsigned number, const struct OpenCall *open,
                        size_t open_count, size_t room);
int Chunk_grow(struct Chunk *chunk); // 0 or -ENOMEM
void Chunk_fit(struct Chunk *chunk); // gives back the room it does not use
// Writes what is not in the file yet. 0 or -errno, as Recording_append's.
int Chunk_save(struct Chunk *chunk, struct Recording *recording,
               const struct TimelineThread *thread);
// The same; then *copy has the same events, which are in the file alone, and
// does not grow.
int Chunk_spill(struct Chunk *chunk, struct Recording *recording,
                const struct TimelineThread *thread, struct Chunk **copy);
void Chunk_get(struct Chunk *chunk);
void Chunk_put(struct Chunk *chunk); // frees it with the last reference
size_t Chunk_bytes(const struct Chunk *chunk);
uint64_t Chunk_first_ticks(const struct Chunk *chunk); // 0 when empty
uint64_t Chunk_last_ticks(const struct Chunk *chunk);  // 0 when empty
static inline bool Chunk_is_spilled(const struct Chunk *chunk)
{
    return chunk->shown.file;
}

#endif
