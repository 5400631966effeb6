// SPDX-License-Identifier: MIT
// Carries out the decisions of struct Slices and struct Choice. Arms functions
// for a slice, ends the slice, and arms functions that a viewer asks for. The
// governor's thread calls these functions. Callers of RearmExecutor_requests
// and RearmExecutor_step hold the GIL.
#pragma once

#include "python/hooks/state.h"
#include "tracer/budget/choice.h"
#include "tracer/budget/control.h"
#include "tracer/budget/hottest.h"
#include "tracer/budget/slices.h"

// A slice of own functions has at most this many functions.
#define REARM_OWN 256

struct RearmExecutor {
    struct State *state;           // borrowed
    const struct Control *control; // Borrowed, like `hottest`.
    const struct Hottest *hottest;
    struct Slices slices;
    struct Choice choice;
    double call_s; // Seconds that the hooks of one call, and counting it, take.
    uint64_t hits; // Hits that a function may have in the newest slice.
    uint64_t hot_hits; // Hits that a hot function may have.
    // The sampler's clock at the newest ranking. `sampled.clock` is NULL if
    // there are no samples.
    struct ShareTime sampled;
    unsigned hot; // Number of hot functions in the newest slice.
    bool begun;   // True after RearmExecutor_begin.
    bool walks; // True while state->slice_next walks over the functions to arm.
    // ids of the program's own functions that are armed only in slices
    uint32_t own[REARM_OWN];
    unsigned own_count;
    unsigned own_first; // First function of the slice, modulo own_count.
    // Number of functions in `own` that the open slice of own functions has
    // armed, and the value of own_count at the beginning of this slice.
    unsigned own_armed, own_all;
    bool chosen; // true if `choice` was made after the newest slice
};

// Begins the first slice under a new budget.
void RearmExecutor_begin(struct RearmExecutor *executor, double now_s);
// Decides before a hold, without the GIL, which functions to arm. `ranks` is
// true if the functions have just been ranked. Returns true if a hold is
// needed.
bool RearmExecutor_decide(struct RearmExecutor *executor, double now_s,
                          bool ranks);
// Arms functions that viewers have asked for, until the clock reaches
// `deadline` (ticks).
void RearmExecutor_requests(struct RearmExecutor *executor, uint64_t deadline);
// Arms and disarms functions for the current slice, and carries out the choice,
// until the clock reaches `deadline` (ticks). Returns true if functions are
// left to be armed or disarmed.
bool RearmExecutor_step(struct RearmExecutor *executor, double now_s,
                        uint64_t deadline);
// Begins or ends a slice of the program's own functions, if the beginning or
// the end is due. The governor calls this function in each full hold.
void RearmExecutor_step_own(struct RearmExecutor *executor, double now_s);
// Returns the seconds until the executor has work to do.
double RearmExecutor_pause(const struct RearmExecutor *executor, double now_s);
// Returns the length of the next hold in seconds. The length of a hold is
// usually `s`. While a slice begins or ends, holds are longer, so that the
// beginning takes at most a tenth of the slice.
double RearmExecutor_hold_s(const struct RearmExecutor *executor, double s);
// Returns true while the functions of a slice are armed, because the governor
// must then read the slice's cost.
static inline bool RearmExecutor_counts(const struct RearmExecutor *executor)
{
    return executor->begun && executor->slices.phase == SLICE_COUNTS;
}
void RearmExecutor_release(struct RearmExecutor *executor);
