// SPDX-License-Identifier: MIT
// Goes over all functions and makes the plan of what to re-arm, as the policy
// says. The governor's thread, without the interpreter's lock.
#ifndef OCULAR_TRACER_BUDGET_SURVEY_H
#define OCULAR_TRACER_BUDGET_SURVEY_H

#include "tracer/budget/policy.h"
#include "tracer/code/registry.h"

struct Survey {
    struct Registry *registry;
    struct PolicyCosts costs;
    uint64_t ticks;                  // now
    double hz;                       // ticks a second
    const struct ShareTime *sampled; // NULL without a sampler
    double rate;                     // s of allowance a second
    double pressure;                 // 0 to 1
    bool behind;                     // the plan before was too much
    uint64_t second_hits;            // of a function, a second
    double room;                     // s a second that more hooks may take
};

// Replaces the plan. Opens a read section. 0, or -ENOMEM: a part is missing.
int Survey_plan(const struct Survey *survey, struct Plan *plan);

#endif
