// SPDX-License-Identifier: MIT
// Reads a view's chunks, be they in memory or in a file, one at a time. Any
// thread.
#ifndef OCULAR_FORMATS_EVENT_BUFFER_H
#define OCULAR_FORMATS_EVENT_BUFFER_H

#include "tracer/timeline/view.h"

// Memory for what is read of one chunk at a time.
struct EventBuffer {
    uint8_t *bytes;
    size_t room;
    const struct OpenCall *open; // of a file's chunk that was read whole
};

// A chunk's events: where they are, or in the buffer. NULL: they cannot be read
// any more, or memory is out.
const struct Event *EventBuffer_read(struct EventBuffer *buffer,
                                     const struct TimelineChunk *chunk);
// The calls that were open before those events; after EventBuffer_read.
const struct OpenCall *EventBuffer_open(const struct EventBuffer *buffer,
                                        const struct TimelineChunk *chunk,
                                        size_t *count);
void EventBuffer_release(struct EventBuffer *buffer);

#endif
