// SPDX-License-Identifier: MIT
// Describes the instants of a timeline that concern one function. Both formats
// use this table. Iterations of loops and lost events are also instants, but
// are not in the table, because they have more data. The function is pure, and
// the writing thread calls it.
#ifndef OCULAR_FORMATS_INSTANT_H
#define OCULAR_FORMATS_INSTANT_H

#include "tracer/timeline/ring.h"

#include <stdbool.h>

struct Instant {
    const char *word; // is put before the function's name
    const char *note; // what the instant means, escaped for JSON
    // True if the instant has a duration. Then the event's `what` is the
    // duration in ticks, and the function is the function of the innermost open
    // call. If `lasts` is false, `what` is an Event_call.
    bool lasts;
};

#define INSTANT_KINDS 32 // above every enum EventKind

// Returns the instant for events of this kind, or NULL if there is no such
// instant.
const struct Instant *Instant_of(unsigned kind);

#endif
