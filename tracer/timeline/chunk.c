// SPDX-License-Identifier: MIT
// The memory of a chunk. Reference counts change on any thread, the rest under
// the timeline's mutex.
#include "tracer/timeline/chunk.h"
#include "ipc/base/heap.h"

#include <errno.h>
#include <string.h>

struct Chunk *Chunk_new(unsigned number, const struct OpenCall *open,
                        size_t open_count, size_t room)
{
    struct Chunk *chunk = Heap_zeroed(1, sizeof *chunk);

    if (!chunk)
        return NULL;
    chunk->references = 1;
    chunk->events = Heap_alloc((room ? room : 1) * sizeof *chunk->events);
    chunk->open =
        Heap_alloc((open_count ? open_count : 1) * sizeof *chunk->open);
    if (!chunk->events || !chunk->open) {
        Chunk_put(chunk);
        return NULL;
    }
    if (open_count)
        memcpy(chunk->open, open, open_count * sizeof *open);
    chunk->room = room;
    // Deep recursion: the copies of the stack stay the smaller part.
    chunk->full = CHUNK_EVENTS + 4 * open_count;
    chunk->shown.thread = number;
    chunk->shown.open = chunk->open;
    chunk->shown.open_count = open_count;
    chunk->shown.events = chunk->events;
    return chunk;
}

int Chunk_grow(struct Chunk *chunk)
{
    size_t room = 2 * chunk->room < chunk->full ? 2 * chunk->room : chunk->full;
    struct Event *events = Heap_resize(chunk->events, room * sizeof *events);

    if (!events)
        return -ENOMEM;
    chunk->events = events;
    chunk->shown.events = events;
    chunk->room = room;
    return 0;
}

void Chunk_fit(struct Chunk *chunk)
{
    size_t room = chunk->shown.event_count;
    struct Event *events;

    if (Chunk_is_spilled(chunk))
        return;
    events = Heap_resize(chunk->events, (room ? room : 1) * sizeof *events);

    if (!events)
        return;
    chunk->events = events;
    chunk->shown.events = events;
    chunk->room = room;
}

int Chunk_spill(const struct Chunk *chunk, struct Spill *spill,
                struct Chunk **copy)
{
    const struct iovec parts[2] = {
        {chunk->open, TimelineChunk_open_bytes(&chunk->shown)},
        {chunk->events, TimelineChunk_event_bytes(&chunk->shown)}};
    struct Chunk *spilled = Heap_zeroed(1, sizeof *spilled);
    int error = -ENOMEM;

    if (spilled)
        error = Spill_write(spill, parts, 2, &spilled->shown.at);
    if (error) {
        Heap_free(spilled);
        return error;
    }
    Spill_get(spill);
    spilled->references = 1;
    spilled->shown.thread = chunk->shown.thread;
    spilled->shown.open_count = chunk->shown.open_count;
    spilled->shown.event_count = chunk->shown.event_count;
    spilled->shown.spill = spill;
    spilled->first_ticks = Chunk_first_ticks(chunk);
    spilled->last_ticks = Chunk_last_ticks(chunk);
    spilled->next = chunk->next;
    *copy = spilled;
    return 0;
}

void Chunk_get(struct Chunk *chunk)
{
    atomic_fetch_add_explicit(&chunk->references, 1, memory_order_relaxed);
}

void Chunk_put(struct Chunk *chunk)
{
    // The last one to put it sees what the others did.
    if (atomic_fetch_sub_explicit(&chunk->references, 1, memory_order_acq_rel) >
        1)
        return;
    if (Chunk_is_spilled(chunk)) {
        Spill_drop(chunk->shown.spill, chunk->shown.at,
                   TimelineChunk_open_bytes(&chunk->shown) +
                       TimelineChunk_event_bytes(&chunk->shown));
        Spill_put(chunk->shown.spill);
    }
    Heap_free(chunk->events);
    Heap_free(chunk->open);
    Heap_free(chunk);
}

size_t Chunk_bytes(const struct Chunk *chunk)
{
    if (Chunk_is_spilled(chunk))
        return sizeof *chunk;
    return sizeof *chunk + chunk->room * sizeof *chunk->events +
           TimelineChunk_open_bytes(&chunk->shown);
}

uint64_t Chunk_first_ticks(const struct Chunk *chunk)
{
    if (Chunk_is_spilled(chunk))
        return chunk->first_ticks;
    return chunk->shown.event_count ? Event_ticks(&chunk->events[0]) : 0;
}

uint64_t Chunk_last_ticks(const struct Chunk *chunk)
{
    size_t count = chunk->shown.event_count;

    if (Chunk_is_spilled(chunk))
        return chunk->last_ticks;
    return count ? Event_ticks(&chunk->events[count - 1]) : 0;
}
