// SPDX-License-Identifier: MIT
// The memory of a chunk. Reference counts change on any thread, the rest under
// the timeline's mutex.
#include "tracer/timeline/chunk.h"
#include "ipc/base/bytes.h"
#include "ipc/base/heap.h"
#include "tracer/timeline/event_code.h"

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
    chunk->full = CHUNK_EVENTS - open_count;
    // Deep recursion: the copies of the stack stay the smaller part.
    if (open_count > CHUNK_EVENTS / 5)
        chunk->full = 4 * open_count;
    chunk->room = room < chunk->full ? room : chunk->full;
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

// The bytes of the events from there on, with the open calls before the first.
static int encode(const struct Chunk *chunk, size_t saved, uint64_t *ticks,
                  struct Bytes *out)
{
    size_t count = chunk->shown.event_count - saved;
    size_t open = saved ? 0 : TimelineChunk_open_bytes(&chunk->shown);
    uint8_t *to = Bytes_extend(out, open + count * EVENT_CODE_MOST + 7);

    if (!to)
        return -ENOMEM;
    if (open)
        memcpy(to, chunk->open, open);
    out->size =
        open + EventCode_write(to + open, chunk->events + saved, count, ticks);
    return 0;
}

// A block that has grown too small is copied into a larger one, and then goes.
static int append(struct Chunk *chunk, struct Recording *recording,
                  struct RecordingBlock *block, struct Bytes *bytes)
{
    struct RecordingSlot slot = chunk->slot;
    uint64_t ticks = chunk->saved_ticks;
    int error = encode(chunk, chunk->saved, &ticks, bytes);

    if (!error && slot.pages && !RecordingSlot_fits(&slot, bytes->size)) {
        slot = (struct RecordingSlot){0};
        ticks = 0;
        Bytes_clear(bytes);
        error = encode(chunk, 0, &ticks, bytes);
    }
    if (!error)
        error =
            Recording_append(recording, &slot, block, bytes->data, bytes->size);
    if (error)
        return error;
    if (slot.at != chunk->slot.at)
        Recording_drop(recording, &chunk->slot);
    chunk->slot = slot;
    chunk->saved = chunk->shown.event_count;
    chunk->saved_ticks = ticks;
    return 0;
}

int Chunk_save(struct Chunk *chunk, struct Recording *recording,
               const struct TimelineThread *thread)
{
    struct RecordingBlock block = {
        .kind = RECORDING_CHUNK,
        .sequence = chunk->sequence,
        .open_count = (uint32_t)chunk->shown.open_count,
        .thread = thread->number,
        .tid = (uint32_t)thread->tid,
        .lost = thread->lost,
        .forgotten = thread->forgotten,
    };
    struct Bytes bytes;
    int error;

    if (Chunk_is_spilled(chunk) ||
        (chunk->slot.pages && chunk->saved == chunk->shown.event_count))
        return 0;
    memcpy(block.name, thread->name, sizeof block.name);
    Bytes_init(&bytes);
    error = append(chunk, recording, &block, &bytes);
    Bytes_release(&bytes);
    if (!error && !chunk->recording) {
        Recording_get(recording);
        chunk->recording = recording;
    }
    return error;
}

int Chunk_spill(struct Chunk *chunk, struct Recording *recording,
                const struct TimelineThread *thread, struct Chunk **copy)
{
    struct Chunk *spilled = Heap_zeroed(1, sizeof *spilled);
    int error = -ENOMEM;

    if (spilled)
        error = Chunk_save(chunk, recording, thread);
    if (error) {
        Heap_free(spilled);
        return error;
    }
    spilled->references = 1;
    spilled->shown.thread = chunk->shown.thread;
    spilled->shown.open_count = chunk->shown.open_count;
    spilled->shown.event_count = chunk->shown.event_count;
    spilled->shown.file = recording;
    spilled->shown.at = RecordingSlot_data(&chunk->slot);
    spilled->shown.size = chunk->slot.used;
    spilled->first_ticks = Chunk_first_ticks(chunk);
    spilled->last_ticks = Chunk_last_ticks(chunk);
    spilled->sequence = chunk->sequence;
    spilled->next = chunk->next;
    // The block is that one's from now on.
    spilled->recording = chunk->recording;
    spilled->slot = chunk->slot;
    chunk->recording = NULL;
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
    if (chunk->recording) {
        Recording_drop(chunk->recording, &chunk->slot);
        Recording_put(chunk->recording);
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
