// SPDX-License-Identifier: MIT
// struct CodePlan contains the fields of struct Code by which the governor
// ranks the functions. The governor's thread writes struct CodePlan without the
// GIL. Other threads may read the atomic members of struct CodePlan.
#pragma once

#include "tracer/base/counter.h"
#include "tracer/code/recent.h"

#include <stdint.h>

struct CodePlan {
    // The mark (recent.h). The function's means are computed from the calls
    // that were timed after the mark.
    struct Recent recent;
    // Number of events at the newest Hottest_rank, or 0 before the first
    // ranking.
    uint64_t ranked_events;
    // `self_calls` when Choice_make last found newly timed calls.
    uint64_t timed_calls;
    // Ticks when Choice_make last found newly timed calls, or 0 if it never
    // did. The collector's thread reads `timed_ticks`.
    counter_t timed_ticks;
    // Calls and resumptions a second while the function always has hooks.
    double rate;
    uint64_t rate_entries; // `entries` when Choice_make last computed `rate`.
    // Ticks when Choice_make last computed `rate`, or 0 if `rate` is not valid.
    uint64_t rate_ticks;
    // Ticks until which jumps have hooks because a viewer shows the code.
    uint64_t jumps_until;
};
