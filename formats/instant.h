// SPDX-License-Identifier: MIT
// The instants of a timeline that concern one function, in a table that both
// formats use. Iterations of loops and lost events are instants, too, but have
// more data. Pure functions, called on the writing thread.
#ifndef OCULAR_FORMATS_INSTANT_H
#define OCULAR_FORMATS_INSTANT_H

#include "tracer/timeline/ring.h"

#include <stdbool.h>

struct Instant {
    const char *word; // is put before the function's name
    const char *note; // what the instant means, escaped for JSON
    // Whether the instant has a duration. If so, `what` of the event is the
    // duration in ticks, and the function is that of the innermost open call.
    // Otherwise `what` is an Event_call.
    bool lasts;
};

#define INSTANT_KINDS 32 // above every enum EventKind

// Returns the instant for events of this kind, or NULL if there is no such
// instant.
const struct Instant *Instant_of(unsigned kind);

#endif
