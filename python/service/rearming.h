// SPDX-License-Identifier: MIT
// Functions that are armed again: those that somebody asked for, all where a
// viewer wants all, and those of the plan, each paid from the control's means.
// Owns the plan and what re-arm windows cost. The governor's thread; with the
// interpreter's lock but for the costs and the end.
#ifndef OCULAR_PYTHON_SERVICE_REARMING_H
#define OCULAR_PYTHON_SERVICE_REARMING_H

#include "python/hooks/state.h"
#include "tracer/budget/control.h"
#include "tracer/budget/survey.h"

struct Rearming {
    struct State *state;     // borrowed, as is
    struct Control *control; // ... this
    struct Plan plan;        // what to arm again
    struct PolicyCosts costs;
    uint64_t all_hits; // of each function in a round of all
};

// Takes over what hooks cost now, as the account will charge them.
void Rearming_update_costs(struct Rearming *rearming);
// What was asked for, and a round of all, for as long as there is time.
void Rearming_wanted(struct Rearming *rearming, uint64_t deadline);
// What was planned. true: there is more to do, and the means for it.
bool Rearming_planned(struct Rearming *rearming, uint64_t deadline);
void Rearming_release(struct Rearming *rearming);

#endif
