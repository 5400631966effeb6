// SPDX-License-Identifier: MIT
// See event_buffer.h.
#include "tracer/timeline/event_buffer.h"
#include "ipc/base/heap.h"
#include "tracer/timeline/spill.h"

const struct Event *EventBuffer_read(struct EventBuffer *buffer,
                                     const struct TimelineChunk *chunk)
{
    size_t open = TimelineChunk_open_bytes(chunk),
           size = open + TimelineChunk_event_bytes(chunk);

    if (!chunk->spill)
        return chunk->events;
    if (buffer->room < size) {
        Heap_free(buffer->bytes);
        buffer->bytes = Heap_alloc(size);
        buffer->room = buffer->bytes ? size : 0;
    }
    buffer->read = buffer->bytes && Spill_read(chunk->spill, chunk->at,
                                               buffer->bytes, size) == 0;
    return buffer->read ? (struct Event *)(buffer->bytes + open) : NULL;
}

const struct OpenCall *EventBuffer_open(const struct EventBuffer *buffer,
                                        const struct TimelineChunk *chunk,
                                        size_t *count)
{
    *count = chunk->spill && !buffer->read ? 0 : chunk->open_count;
    return chunk->spill ? (struct OpenCall *)buffer->bytes : chunk->open;
}

void EventBuffer_release(struct EventBuffer *buffer)
{
    Heap_free(buffer->bytes);
    *buffer = (struct EventBuffer){0};
}
