// SPDX-License-Identifier: MIT
// These fields of struct Code serve to rank the function among all functions.
// The governor's thread writes the fields without the GIL. Other threads read
// the atomic members.
#ifndef OCULAR_TRACER_CODE_CODE_PLAN_H
#define OCULAR_TRACER_CODE_CODE_PLAN_H

#include "tracer/base/counter.h"
#include "tracer/code/recent.h"

#include <stdint.h>

struct CodePlan {
    struct Recent recent; // mark from which on calls count for the mean
    // events at the newest Hottest_rank; 0 before the first ranking
    uint64_t ranked_events;
    uint64_t timed_calls; // `self_calls` at the newest ranking
    // Ticks of the ranking that found the newest timed call; 0 before the first
    // ranking. The collector reads this field.
    counter_t timed_ticks;
    double rate;           // entries per second while the function stays armed
    uint64_t rate_entries; // entries at the newest ranking
    // ticks at the newest ranking; 0 before the first ranking
    uint64_t rate_ticks;
    uint64_t jumps_until; // ticks until which a viewer shows the code
};

#endif
