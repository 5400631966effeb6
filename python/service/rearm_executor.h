// SPDX-License-Identifier: MIT
// Carries out the decisions of slices and of the choice: arms functions for a
// slice, ends it, and arms functions that a viewer asks for. The governor's
// thread; with the interpreter's lock but for RearmExecutor_decide and the end.
#ifndef OCULAR_PYTHON_SERVICE_REARM_EXECUTOR_H
#define OCULAR_PYTHON_SERVICE_REARM_EXECUTOR_H

#include "python/hooks/state.h"
#include "tracer/budget/choice.h"
#include "tracer/budget/control.h"
#include "tracer/budget/hottest.h"
#include "tracer/budget/slices.h"

struct RearmExecutor {
    struct State *state;           // borrowed, as are
    const struct Control *control; // ... these
    const struct Hottest *hottest;
    struct Slices slices;
    struct Choice choice;
    double call_s; // that a call costs: its hooks, and the counting.
    uint64_t hits; // of a function in the newest slice.
    unsigned hot;  // functions that were hot then
    bool begun;    // RearmExecutor_begin was called
    bool walks;    // state->slice_next goes over the functions
    bool chosen;   // `choice` is the newest slice's
};

// A budget is held from now on: the first slice.
void RearmExecutor_begin(struct RearmExecutor *executor, double now_s);
// Decides which functions are armed; before a hold, without the interpreter's
// lock. `ranks`: it is time to look at all functions. true: a hold is wanted.
bool RearmExecutor_decide(struct RearmExecutor *executor, double now_s,
                          bool ranks);
// Arms functions that viewers asked for, as long as there is time.
void RearmExecutor_requests(struct RearmExecutor *executor, uint64_t deadline);
// Goes on with the slice and the choice. true: there is more to do.
bool RearmExecutor_step(struct RearmExecutor *executor, double now_s,
                        uint64_t deadline);
// s until it has something to do.
double RearmExecutor_pause(const struct RearmExecutor *executor, double now_s);
// s that a hold may take, usually `s`: a slice begins within a tenth of one.
double RearmExecutor_hold_s(const struct RearmExecutor *executor, double s);
// A slice is under way, and its cost is to be read.
static inline bool RearmExecutor_counts(const struct RearmExecutor *executor)
{
    return executor->begun && executor->slices.phase == SLICE_COUNTS;
}
void RearmExecutor_release(struct RearmExecutor *executor);

#endif
