// SPDX-License-Identifier: MIT
// Writer: the governor's thread, without the interpreter's lock. The part of
// struct Code that ranks a function. Others read its atomic members.
#ifndef OCULAR_TRACER_CODE_CODE_PLAN_H
#define OCULAR_TRACER_CODE_CODE_PLAN_H

#include "tracer/base/counter.h"
#include "tracer/code/recent.h"

#include <stdint.h>

struct CodePlan {
    struct Recent recent;   // since when the mean of its calls is taken
    uint64_t ranked_events; // events at the newest Hottest_rank; 0: none yet
    uint64_t timed_calls;   // self_calls at the newest ranking
    counter_t timed_ticks;  // ticks of the ranking that found the newest of
                            // them; 0: no ranking yet; the collector reads it
    double rate;            // entries a second while it stays armed
    uint64_t rate_entries;  // entries at the newest ranking
    uint64_t rate_ticks;    // ticks of that; 0: there was none
    uint64_t jumps_until;   // ticks until which a viewer looks at its code
};

#endif
