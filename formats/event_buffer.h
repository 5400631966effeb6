// SPDX-License-Identifier: MIT
// Reads the chunks of a view, one chunk at a time. Any thread may use a buffer.
#ifndef OCULAR_FORMATS_EVENT_BUFFER_H
#define OCULAR_FORMATS_EVENT_BUFFER_H

#include "tracer/timeline/view.h"

// Holds one chunk at a time.
struct EventBuffer {
    uint8_t *bytes;
    size_t room;
    const struct OpenCall *open; // NULL: the chunk could not be read
};

// Returns the events of a chunk. Returns NULL if the chunk cannot be read any
// more or memory is out.
const struct Event *EventBuffer_read(struct EventBuffer *buffer,
                                     const struct TimelineChunk *chunk);
// Returns the calls that were open before the events of the chunk. Must be
// called after EventBuffer_read.
const struct OpenCall *EventBuffer_open(const struct EventBuffer *buffer,
                                        const struct TimelineChunk *chunk,
                                        size_t *count);
void EventBuffer_release(struct EventBuffer *buffer);

#endif
