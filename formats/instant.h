// SPDX-License-Identifier: MIT
// The instants of a timeline that are about a function, in one table of which
// both formats are written. A loop's iteration and lost events are instants,
// too, but have more to say. Pure; the writing thread.
#ifndef OCULAR_FORMATS_INSTANT_H
#define OCULAR_FORMATS_INSTANT_H

#include "tracer/timeline/ring.h"

#include <stdbool.h>

struct Instant {
    const char *word; // stands before the function's name
    const char *note; // what it means; as JSON has it between quotes
    // `what` of the event is ticks that it lasted, and it is about the
    // innermost open call; else `what` is Event_call.
    bool lasts;
};

#define INSTANT_KINDS 32 // above every enum EventKind

// NULL: events of that kind are something else.
const struct Instant *Instant_of(unsigned kind);

#endif
