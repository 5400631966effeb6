// SPDX-License-Identifier: MIT
// Writer: the governor's thread, without the GIL. These fields of struct Code
// rank a function. Other threads read the atomic members.
#ifndef OCULAR_TRACER_CODE_CODE_PLAN_H
#define OCULAR_TRACER_CODE_CODE_PLAN_H

#include "tracer/base/counter.h"
#include "tracer/code/recent.h"

#include <stdint.h>

struct CodePlan {
    struct Recent recent;   // start of the calls that make the mean
    uint64_t ranked_events; // events at the newest Hottest_rank; 0: none yet
    uint64_t timed_calls;   // `self_calls` at the newest ranking
    // Ticks of the ranking that found the newest timed call; 0: no ranking yet.
    // The collector reads this field.
    counter_t timed_ticks;
    double rate;           // entries per second while the function stays armed
    uint64_t rate_entries; // entries at the newest ranking
    uint64_t rate_ticks;   // ticks at the newest ranking; 0: no ranking yet
    uint64_t jumps_until;  // ticks until which a viewer shows the code
};

#endif
