// SPDX-License-Identifier: MIT
#include "formats/event_buffer.h"
#include "ipc/base/heap.h"
#include "tracer/timeline/event_code.h"
#include "tracer/timeline/recording.h"

static bool make_room(struct EventBuffer *buffer, size_t size)
{
    if (buffer->room >= size)
        return true;
    Heap_free(buffer->bytes);
    buffer->bytes = Heap_alloc(size);
    buffer->room = buffer->bytes ? size : 0;
    return buffer->bytes;
}

// The buffer holds the chunk's decoded events, followed by the chunk's own
// bytes. The chunk's own bytes begin with the calls that were open before the
// chunk.
const struct Event *EventBuffer_read(struct EventBuffer *buffer,
                                     const struct TimelineChunk *chunk)
{
    size_t events = chunk->event_count * sizeof(struct Event);
    size_t open = chunk->open_count * sizeof *buffer->open;
    uint8_t *block;

    buffer->open = NULL;
    buffer->open_count = 0;
    // One more byte is allocated, so that an empty chunk also has an address.
    if (open > chunk->size || !make_room(buffer, events + chunk->size + 1))
        return NULL;
    block = buffer->bytes + events;
    if (Recording_read(chunk->file, chunk->at, block, chunk->size) ||
        Recording_check(RECORDING_SEED, block, chunk->size) != chunk->check ||
        EventCode_read(block + open, chunk->size - open,
                       (struct Event *)buffer->bytes,
                       chunk->event_count) != chunk->event_count)
        return NULL;
    buffer->open = (struct OpenCall *)block;
    buffer->open_count = chunk->open_count;
    return (struct Event *)buffer->bytes;
}

void EventBuffer_release(struct EventBuffer *buffer)
{
    Heap_free(buffer->bytes);
    *buffer = (struct EventBuffer){0};
}
