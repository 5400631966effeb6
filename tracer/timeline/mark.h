// SPDX-License-Identifier: MIT
// A mark or a span's begin or end that the program puts into its timeline, or
// the task whose step a call is. In the ring it is its text, eight bytes an
// event, and then the event that the text belongs to. So it is bounded, spilled
// and forgotten as calls are.
#ifndef OCULAR_TRACER_TIMELINE_MARK_H
#define OCULAR_TRACER_TIMELINE_MARK_H

#include "tracer/timeline/ring.h"

#include <stdbool.h>
#include <stddef.h>

#define MARK_NAME 200  // bytes of a name, at most
#define MARK_ARGS 1000 // bytes of its arguments, at most

// Texts are UTF-8 and need no NUL.
struct Mark {
    enum EventKind kind; // EVENT_MARK, EVENT_SPAN_BEGIN, EVENT_SPAN_END or
                         // EVENT_TASK
    uint32_t number;     // a span's or a task's, of 28 bits
    const char *name;
    size_t name_size;
    const char *args; // a JSON object; or of size 0
    size_t args_size;
};

// On the ring's own thread. Longer texts are cut: no JSON that is cut makes
// sense, so that goes as a whole.
void Mark_push(struct Ring *ring, uint64_t ticks, const struct Mark *mark);

// Puts texts together again, of one thread's events.
struct MarkText {
    char bytes[(MARK_NAME + MARK_ARGS + 16) / 8 * 8];
    size_t size;
};

void MarkText_add(struct MarkText *text, const struct Event *event);
// Something is missing: what was there is of no mark.
void MarkText_clear(struct MarkText *text);
// The mark that ends with `event`. Its texts are in `text` until the next call.
// If they are not whole, its name is "(lost)".
struct Mark MarkText_take(struct MarkText *text, const struct Event *event);

#endif
