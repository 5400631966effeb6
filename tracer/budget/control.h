// SPDX-License-Identifier: MIT
// Decides when the governor wakes up and what the governor then does. The
// decisions are the sampler's rate, holds of the GIL, rankings, and whether new
// code is armed at once. All functions are pure, because the caller passes the
// time and the readings. The governor's thread owns a Control. The account's
// mutex guards the budget that a reading points to.
//
// When the governor wakes up, it calls Control_needs_account and Control_step,
// does the work that Control_step has chosen, and calls Control_pause. All
// times are seconds of one clock. If this clock jumps, an action may come too
// late, but by no more than the longest pause before the action.
#ifndef OCULAR_TRACER_BUDGET_CONTROL_H
#define OCULAR_TRACER_BUDGET_CONTROL_H

#include "tracer/budget/budget.h"

#include <stdbool.h>
#include <stdint.h>

// The facts from which the governor decides when it wakes up.
struct ControlReading {
    // The budget, which the caller has locked and given a new reading. If
    // `budget` is NULL, the values of the last step stay valid.
    struct Budget *budget;
    uint32_t newest_code; // id of the newest code object that was adopted
    bool asked;           // true if a viewer waits for a hold
};

struct ControlDecision {
    bool attend; // true if the governor takes the GIL for a hold
    // true if the hold does all work, false if it only continues earlier work
    bool full;
    // True if the governor must first rank the functions and call
    // Control_ranked.
    bool rank;
    bool arm_new;      // true if newly adopted code is armed at once
    double sampler_hz; // samples per second of CPU time; 0 keeps the rate
};

struct Control {
    bool held;          // true if a budget is set
    double rate;        // seconds of allowance per second; 1 without a budget
    double refill_rate; // refill rate of the bucket; 1 without a budget
    double hooks_rate;  // seconds per second that hooks and arming may take
    double cores;       // CPU seconds per second that the program uses
    double hooks;       // seconds of CPU time that hooks have taken so far
    double spent;       // seconds that hooks and arming have taken so far
    double hz;          // the sampler's newest rate, or 0 if there was none
    bool overdrawn;     // true if the token bucket is in debt
    bool more;          // true if the last hold left work to do
    bool burst;         // true while new code arrives in a burst
    uint32_t newest_code;
    double looked_s; // time at which newest_code was read
    double burst_until_s, due_s, rank_due_s;
};

void Control_init(struct Control *control);
// Starts the control when the thread begins, or begins again after a fork.
// Returns the seconds until the first wake-up.
double Control_begin(struct Control *control, double now_s);
// Returns true if the next step needs a budget in its reading. Reading all
// clocks takes about 20 us.
bool Control_needs_account(const struct Control *control, double now_s,
                           uint32_t newest_code);
struct ControlDecision Control_step(struct Control *control, double now_s,
                                    const struct ControlReading *reading);
// Tells the control that a ranking of the functions took `took_s` seconds of
// CPU time.
void Control_ranked(struct Control *control, double now_s, double took_s);
// Returns true if the governor should read bytecode at once. The governor
// should not read bytecode at once if the token bucket is in debt or nothing
// runs.
bool Control_may_hurry(const struct Control *control);
// Returns the seconds until the next wake-up. `more` is true if a hold left
// work to do.
double Control_pause(struct Control *control, double now_s, bool more);
// Returns true if a viewer's request may wake up the governor before the next
// hold. The caller owns *next_s, which is 0 at first. Any thread may call this
// function.
bool Control_may_wake(double *next_s, double now_s);
// Returns true if `time` is in the future by at most `most`. A time further in
// the future means that the counter has gone back, for example after a
// suspension. The function then returns false.
static inline bool Control_is_ahead(uint64_t time, uint64_t now, uint64_t most)
{
    return now < time && time - now <= most;
}

#endif
