// SPDX-License-Identifier: MIT
// A table of the instants of a timeline that concern one function. The writers
// of JSON and of protobuf both use the table. The table has no iterations of
// loops and no gaps of lost events. Iterations and gaps are instants too, but
// have more data.
#pragma once

#include "tracer/timeline/ring.h"

#include <stdbool.h>

struct Instant {
    // Text that is put before the name of an instant's function.
    const char *word;
    const char *note; // Explanation of the instant, escaped for JSON.
    // True if the instant has a duration. If `lasts` is true, the event's
    // `what` is the duration in ticks, and the instant belongs to the function
    // of the innermost open call. If `lasts` is false, the event's `what` is a
    // value of Event_call.
    bool lasts;
};

#define INSTANT_KINDS 32 // Larger than the highest value of enum EventKind.

// Returns the description of instants of the kind `kind`, or NULL if events of
// this kind are not in the table.
const struct Instant *Instant_of(unsigned kind);
