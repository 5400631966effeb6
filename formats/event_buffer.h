// SPDX-License-Identifier: MIT
// Reads the chunks of a recording's threads, one chunk at a time.
#pragma once

#include "tracer/timeline/view.h"

// A buffer that holds one chunk at a time.
struct EventBuffer {
    uint8_t *bytes;
    size_t room;
    // The open calls before the chunk, or NULL if the chunk could not be read.
    const struct OpenCall *open;
};

// Returns the decoded events of a chunk. Returns NULL if the chunk can no
// longer be read or memory is out.
const struct Event *EventBuffer_read(struct EventBuffer *buffer,
                                     const struct TimelineChunk *chunk);
// Returns the calls that were open before the first event of the chunk.
// EventBuffer_open must be called after EventBuffer_read.
const struct OpenCall *EventBuffer_open(const struct EventBuffer *buffer,
                                        const struct TimelineChunk *chunk,
                                        size_t *count);
void EventBuffer_release(struct EventBuffer *buffer);
