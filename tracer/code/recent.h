// SPDX-License-Identifier: MIT
// Keeps a mark. A function's mean is the mean of the calls that were timed
// after the mark. The mark moves, so a change of the function's cost soon
// changes the mean, even after days of tracing. The governor moves the mark.
// Any thread reads the mark.
#ifndef OCULAR_TRACER_CODE_RECENT_H
#define OCULAR_TRACER_CODE_RECENT_H

#include "tracer/base/counter.h"

#include <stdbool.h>

// The mean is taken over at least RECENT_S seconds and RECENT_CALLS calls, and
// over at most about twice these numbers.
#define RECENT_S 30
#define RECENT_CALLS 1000

struct RecentMark {  // the sums at one moment
    counter_t calls; // number of timed calls
    counter_t cycles;
    counter_t waited;
};

struct Recent {
    struct RecentMark marks[2];
    _Atomic uint32_t current; // index of the valid mark
    // Only the governor uses the next fields.
    struct RecentMark next;
    uint64_t next_ticks;
};

// Passes the present sums, which the next mark will contain. `period` is
// RECENT_S in ticks. Returns true if the mark has moved.
bool Recent_note(struct Recent *recent, const struct RecentMark *now,
                 uint64_t ticks, uint64_t period);
// Returns the valid mark. The mark stays valid for at least RECENT_S seconds.
const struct RecentMark *Recent_mark(const struct Recent *recent);

#endif
