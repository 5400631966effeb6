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
    struct Event *events =
        Heap_resize(chunk->events, (room ? room : 1) * sizeof *events);

    if (!events)
        return;
    chunk->events = events;
    chunk->shown.events = events;
    chunk->room = room;
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
    Heap_free(chunk->events);
    Heap_free(chunk->open);
    Heap_free(chunk);
}

size_t Chunk_bytes(const struct Chunk *chunk)
{
    return sizeof *chunk + chunk->room * sizeof *chunk->events +
           chunk->shown.open_count * sizeof *chunk->open;
}

uint64_t Chunk_last_ticks(const struct Chunk *chunk)
{
    size_t count = chunk->shown.event_count;

    return count ? Event_ticks(&chunk->events[count - 1]) : 0;
}
