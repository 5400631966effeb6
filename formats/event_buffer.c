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
    size_t events = TimelineChunk_event_bytes(chunk),
           open = TimelineChunk_open_bytes(chunk);
    uint8_t *block;

    buffer->open = NULL;
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
    return (struct Event *)buffer->bytes;
}

const struct OpenCall *EventBuffer_open(const struct EventBuffer *buffer,
                                        const struct TimelineChunk *chunk,
                                        size_t *count)
{
    *count = buffer->open ? chunk->open_count : 0;
    return buffer->open;
}

void EventBuffer_release(struct EventBuffer *buffer)
{
    Heap_free(buffer->bytes);
    *buffer = (struct EventBuffer){0};
}
