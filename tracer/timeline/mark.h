// SPDX-License-Identifier: MIT
// A struct Mark is an entry that the program adds to the timeline, which is a
// mark, the begin or the end of a span, or the asyncio task to which a call
// belongs. In the ring, a mark consists of several events. The first events
// contain the mark's text, eight bytes each, and the last one is the event of
// the mark itself. Marks are therefore limited, stored and forgotten like
// calls.
#pragma once

#include "tracer/timeline/ring.h"

#include <stddef.h>

#define MARK_NAME 200  // Largest number of bytes of a mark's name.
#define MARK_ARGS 1000 // Largest number of bytes of a mark's arguments.

// Texts of a mark are UTF-8 and need no NUL.
struct Mark {
    enum EventKind kind; // EVENT_MARK, EVENT_SPAN_BEGIN, EVENT_SPAN_END or
                         // EVENT_TASK.
    // Number of the span or the task, of which only 28 bits are used.
    uint32_t number;
    const char *name;
    size_t name_size;
    const char *args; // A JSON object, not set if args_size is 0.
    size_t args_size;
};

// Mark_push is called by the thread that writes into `ring`. A name of more
// than MARK_NAME bytes is shortened. Arguments of more than MARK_ARGS bytes are
// left out, because the beginning of a JSON text is no JSON text.
void Mark_push(struct Ring *ring, uint64_t ticks, const struct Mark *mark);

// Collects the text of a mark from the events of one thread.
struct MarkText {
    char bytes[(MARK_NAME + MARK_ARGS + 16) / 8 * 8];
    size_t size;
};

void MarkText_add(struct MarkText *text, const struct Event *event);
// Forgets the text so far. MarkText_clear is called if events of the thread are
// missing.
void MarkText_clear(struct MarkText *text);
// Returns the mark that ends with the event `event`. The texts of the returned
// mark are in `text` until the next call. The name of the returned mark is
// "(lost)" if the texts are incomplete.
struct Mark MarkText_take(struct MarkText *text, const struct Event *event);
