// SPDX-License-Identifier: MIT
// A struct Mark is a mark that the program sets, the begin or the end of a span
// that the program sets, or the task to which a call belongs. In the ring a
// mark is first its text, with eight bytes in each event, and then the event of
// the mark. So a mark is limited, stored and forgotten like calls.
#ifndef OCULAR_TRACER_TIMELINE_MARK_H
#define OCULAR_TRACER_TIMELINE_MARK_H

#include "tracer/timeline/ring.h"

#include <stdbool.h>
#include <stddef.h>

#define MARK_NAME 200  // largest number of bytes of a name
#define MARK_ARGS 1000 // largest number of bytes of the arguments

// Texts are UTF-8 and need no NUL.
struct Mark {
    enum EventKind kind; // EVENT_MARK, EVENT_SPAN_BEGIN, EVENT_SPAN_END or
                         // EVENT_TASK
    uint32_t number;     // number of the span or the task, in 28 bits
    const char *name;
    size_t name_size;
    const char *args; // a JSON object, or args_size is 0
    size_t args_size;
};

// The ring's own thread calls this function. A name that is too long is
// shortened. Arguments that are too long are left out, because a part of a JSON
// text is useless.
void Mark_push(struct Ring *ring, uint64_t ticks, const struct Mark *mark);

// Collects the text of a mark from the events of one thread.
struct MarkText {
    char bytes[(MARK_NAME + MARK_ARGS + 16) / 8 * 8];
    size_t size;
};

void MarkText_add(struct MarkText *text, const struct Event *event);
// Forgets the collected text. The caller calls this function if events are
// missing.
void MarkText_clear(struct MarkText *text);
// Returns the mark whose last event is `event`. The mark's texts are in `text`
// until the next call. If the texts are incomplete, the name is "(lost)".
struct Mark MarkText_take(struct MarkText *text, const struct Event *event);

#endif
