// SPDX-License-Identifier: MIT
// Decides when the governor's thread wakes up and what it does then.
// Control_step decides about the sampler's rate, about holds of the GIL, about
// rankings of functions, and whether new code gets its hooks at once. The
// functions of control.h compute only from their arguments, because the caller
// passes the time and the readings. The governor's thread owns a struct
// Control. The mutex of struct Account guards the budget to which a struct
// ControlReading points.
//
// When the governor wakes up, it calls Control_needs_account and Control_step,
// does the work that Control_step has chosen, and calls Control_pause. All
// times are seconds of one clock. If this clock jumps, an action can come too
// late, but by no more than the longest pause before the action.
#pragma once

#include "tracer/budget/budget.h"

#include <stdbool.h>
#include <stdint.h>

// The facts by which the governor decides when it wakes up.
struct ControlReading {
    // The budget, which the caller has locked and given a new reading. If
    // `budget` is NULL, Control_step uses the values of its last call.
    struct Budget *budget;
    uint32_t newest_code; // Id of the newest code object.
    bool asked;           // True if a viewer waits for a hold of the GIL.
};

struct ControlDecision {
    bool attend; // True if the governor must take the GIL.
    // True if this hold of the GIL does all work, false if it only continues
    // earlier work.
    bool full;
    // True if the governor must first rank the functions and call
    // Control_ranked.
    bool rank;
    bool arm_new; // True if new code gets its hooks at once.
    // Samples per second of CPU time. 0 means that the rate does not change.
    double sampler_hz;
};

struct Control {
    bool held; // True if there is a budget.
    // Seconds of allowance per second, which is 1 without a budget.
    double rate;
    // Refill rate of the bucket in seconds per second, which is 1 without a
    // budget.
    double refill_rate;
    double hooks_rate; // Seconds per second that hooks and arming may take.
    double cores;      // CPU seconds per second that the program uses.
    double hooks;      // Seconds of CPU time that hooks have taken so far.
    double spent;      // Seconds that hooks and arming have taken so far.
    // The newest rate of the sampler, or 0 if there was none.
    double hz;
    bool overdrawn; // True if the token bucket is in debt.
    bool more;      // True if the last hold of the GIL left work to do.
    bool burst;     // True during a burst of new code.
    uint32_t newest_code;
    double looked_s; // Time at which `newest_code` was stored.
    double burst_until_s, due_s, rank_due_s;
};

void Control_init(struct Control *control);
// Control_begin is called when the governor's thread begins, and again after a
// fork. Returns the seconds until the first wake-up.
double Control_begin(struct Control *control, double now_s);
// Returns true if the next Control_step needs a budget in its reading. Reading
// all clocks for a budget takes about 20 us.
bool Control_needs_account(const struct Control *control, double now_s,
                           uint32_t newest_code);
struct ControlDecision Control_step(struct Control *control, double now_s,
                                    const struct ControlReading *reading);
// Control_ranked is called after a ranking of the functions that took `took_s`
// seconds of CPU time.
void Control_ranked(struct Control *control, double now_s, double took_s);
// Returns true if the governor should read bytecode at once. The governor
// should not read bytecode at once if the token bucket is in debt or no code
// runs.
bool Control_may_hurry(const struct Control *control);
// Returns the seconds until the next wake-up. `more` is true if a hold of the
// GIL left work to do.
double Control_pause(struct Control *control, double now_s, bool more);
// Returns true if a viewer's request may wake up the governor before the next
// hold of the GIL. The caller owns *next_s, which is 0 at first. Any thread may
// call Control_may_wake.
bool Control_may_wake(double *next_s, double now_s);
// Returns true if `time` is in the future by at most `most`. If `time` is
// further in the future, the time stamp counter has gone back, for example
// after a suspension. If the time stamp counter has gone back, Control_is_ahead
// returns false.
static inline bool Control_is_ahead(uint64_t time, uint64_t now, uint64_t most)
{
    return now < time && time - now <= most;
}
