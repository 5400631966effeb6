// SPDX-License-Identifier: MIT
// Writer: the governor's thread, without the interpreter's lock but for what is
// re-armed. The part of struct Code that ranks a function and says when it is
// due. Others read what is atomic.
#ifndef OCULAR_TRACER_CODE_CODE_PLAN_H
#define OCULAR_TRACER_CODE_CODE_PLAN_H

#include "tracer/base/counter.h"
#include "tracer/code/rearm_window.h"
#include "tracer/code/recent.h"

#include <stdbool.h>

struct CodePlan {
    struct Recent recent;      // since when the mean of its calls is taken
    uint64_t ranked_events;    // events at the newest Hottest_rank; 0: none yet
    struct RearmWindow window; // what earlier re-arm windows have shown
    bool window_open;          // one is under way
    unsigned refusals;         // times in turn that it could not be armed
    uint64_t timed_calls;      // self_calls at the newest survey
    counter_t timed_ticks;     // ticks of the survey that found the newest of
                               // them; 0: no survey yet; the collector reads it
    uint64_t broken_ticks; // ticks of the survey that found it broken first;
                           // 0: it is not
};

#endif
