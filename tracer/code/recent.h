// SPDX-License-Identifier: MIT
// A mark is a copy of a function's number of timed calls and of the sums of
// their cycles. A function's mean is the mean of the calls that were timed
// after the mark. From time to time the mark is replaced by a new copy, so that
// the mean soon follows a change of the function's cost, even after days of
// tracing. The governor replaces the mark. Any thread may read the mark.
#pragma once

#include "tracer/base/counter.h"

#include <stdbool.h>

// A mean is taken over at least RECENT_S seconds and RECENT_CALLS calls, and at
// most about twice as many.
#define RECENT_S 30
#define RECENT_CALLS 1000

struct RecentMark {  // Copy of sums over a function's timed calls.
    counter_t calls; // Number of timed calls.
    counter_t cycles;
    counter_t waited;
};

struct Recent {
    struct RecentMark marks[2];
    _Atomic uint32_t current; // Index of the mark that Recent_mark returns.
    // Only the governor uses `next` and the fields after it.
    struct RecentMark next;
    uint64_t next_ticks;
};

// Recent_note gets the function's present sums `now`, from which the next mark
// is made. `period` is RECENT_S seconds in ticks. Returns true if a new mark is
// valid from now on.
bool Recent_note(struct Recent *recent, const struct RecentMark *now,
                 uint64_t ticks, uint64_t period);
// Returns the present mark. The returned mark stays valid for at least RECENT_S
// seconds.
const struct RecentMark *Recent_mark(const struct Recent *recent);
