// SPDX-License-Identifier: MIT
// Reads the chunks of a recording's threads, one chunk at a time.
#pragma once

#include "tracer/timeline/view.h"

// A buffer that holds one chunk at a time.
struct EventBuffer {
    uint8_t *bytes;
    size_t room;
    // The calls that were open before the first event of the chunk. If the
    // chunk could not be read, `open` is NULL and open_count is 0.
    const struct OpenCall *open;
    size_t open_count;
};

// Returns the decoded events of a chunk. Returns NULL if the chunk can no
// longer be read or memory is out.
const struct Event *EventBuffer_read(struct EventBuffer *buffer,
                                     const struct TimelineChunk *chunk);
void EventBuffer_release(struct EventBuffer *buffer);
