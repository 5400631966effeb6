// SPDX-License-Identifier: MIT
// Decides when the governor wakes up and what it does then: the sampler's rate,
// holds of the GIL, rankings, and whether new code is armed at once. All
// functions are pure: the caller passes the time and the readings. The
// governor's thread owns a Control. The account's mutex guards the budget that
// a reading points to.
//
// A wake-up calls Control_needs_account and Control_step, does the decided work
// and calls Control_pause. All times are seconds of one clock. A jump of this
// clock delays an action by no more than the longest pause before this action.
#ifndef OCULAR_TRACER_BUDGET_CONTROL_H
#define OCULAR_TRACER_BUDGET_CONTROL_H

#include "tracer/budget/budget.h"

#include <stdbool.h>
#include <stdint.h>

// The governor's knowledge when it wakes up.
struct ControlReading {
    // The budget with a fresh reading, which the caller locks. NULL means that
    // the last step's values stay valid.
    struct Budget *budget;
    uint32_t newest_code; // id of the newest code object that was adopted
    bool asked;           // a viewer waits for a hold
};

struct ControlDecision {
    bool attend;       // take the GIL for a hold
    bool full;         // do all work in the hold, not only earlier rests
    bool rank;         // rank the functions first and call Control_ranked
    bool arm_new;      // newly adopted code is armed at once
    double sampler_hz; // samples per CPU second; 0: keep the rate
};

struct Control {
    bool held;          // a budget is set
    double rate;        // s of allowance per second; 1 without a budget
    double refill_rate; // refill rate of the bucket; 1 without a budget
    double hooks_rate;  // s per second that hooks and arming may take
    double cores;       // CPU s per second: of the program
    double hooks;       // s of CPU time that hooks have taken so far
    double spent;       // s that hooks and arming have taken so far
    double hz;          // the sampler's newest rate; 0: none yet
    bool overdrawn;     // the token bucket is in debt
    bool more;          // the last hold left work to do
    bool burst;         // new code arrives in a burst
    uint32_t newest_code;
    double looked_s; // when newest_code was read
    double burst_until_s, due_s, rank_due_s;
};

void Control_init(struct Control *control);
// Starts the control when the thread begins, or begins again after a fork.
// Returns the s until the first wake-up.
double Control_begin(struct Control *control, double now_s);
// Returns true if the next step needs a budget in its reading. Reading all
// clocks takes some 20 us.
bool Control_needs_account(const struct Control *control, double now_s,
                           uint32_t newest_code);
struct ControlDecision Control_step(struct Control *control, double now_s,
                                    const struct ControlReading *reading);
// Notes that a ranking of the functions took `took_s` of CPU time.
void Control_ranked(struct Control *control, double now_s, double took_s);
// Returns true if the governor should read bytecode at once. The governor
// should not hurry if the token bucket is in debt or nothing runs.
bool Control_may_hurry(const struct Control *control);
// Returns the s until the next wake-up. `more` says that a hold left work to
// do.
double Control_pause(struct Control *control, double now_s, bool more);
// Returns true if a viewer's request may wake up the governor before the next
// hold. The caller owns *next_s, which is 0 at first. Any thread may call this
// function.
bool Control_may_wake(double *next_s, double now_s);
// Returns true if `time` is still to come. No time is set more than `most`
// ahead. A later time means that the counter has gone back, as after a
// suspension.
static inline bool Control_is_ahead(uint64_t time, uint64_t now, uint64_t most)
{
    return now < time && time - now <= most;
}

#endif
