// SPDX-License-Identifier: MIT
// Since when a function's timed calls make its mean: so that a cost that has
// changed shows, on the tenth day as on the first. The governor moves the mark
// on; any thread reads it.
#ifndef OCULAR_TRACER_CODE_RECENT_H
#define OCULAR_TRACER_CODE_RECENT_H

#include "tracer/base/counter.h"

#include <stdbool.h>

#define RECENT_S 30       // the mean is of so much time and of so many calls at
#define RECENT_CALLS 1000 // least, and of about twice that at most

struct RecentMark {  // sums at some time
    counter_t calls; // that were timed
    counter_t cycles;
    counter_t waited;
};

struct Recent {
    struct RecentMark marks[2];
    _Atomic uint32_t current; // the mark that counts
    // The governor's.
    struct RecentMark next;
    uint64_t next_ticks;
};

// The sums are these now; `period` is RECENT_S in ticks. true: the mark has
// moved.
bool Recent_note(struct Recent *recent, const struct RecentMark *now,
                 uint64_t ticks, uint64_t period);
// The mark that counts; it stands for RECENT_S at least.
const struct RecentMark *Recent_mark(const struct Recent *recent);

#endif
