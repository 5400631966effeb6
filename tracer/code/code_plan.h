// SPDX-License-Identifier: MIT
// struct CodePlan contains the fields of struct Code by which the governor
// ranks the functions. The governor's thread writes struct CodePlan without the
// GIL. Other threads may read the atomic members of struct CodePlan.
#pragma once

#include "tracer/base/counter.h"
#include "tracer/code/recent.h"

#include <stdint.h>

struct CodePlan {
    // The mark (recent.h). Calls after the mark count for the function's means.
    struct Recent recent;
    // Number of events at the newest Hottest_rank, or 0 before the first
    // ranking.
    uint64_t ranked_events;
    uint64_t timed_calls; // `self_calls` at the newest ranking by Hottest_rank.
    // Ticks at the newest ranking that found newly timed calls, or 0 before the
    // first ranking. The collector's thread reads `timed_ticks`.
    counter_t timed_ticks;
    // Calls and resumptions a second while the function stays armed.
    double rate;
    uint64_t rate_entries; // `entries` at the newest ranking by Hottest_rank.
    // Ticks at the newest ranking by Hottest_rank, or 0 before the first
    // ranking.
    uint64_t rate_ticks;
    // Ticks until which jumps are armed because a viewer shows the code.
    uint64_t jumps_until;
};
