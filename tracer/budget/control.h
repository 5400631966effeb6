// SPDX-License-Identifier: MIT
// Decides when the governor wakes up and its work then: the sampler's rate,
// holds of the interpreter's lock, rankings, whether new code is armed at once.
// Pure: it is handed the time and the readings, and knows no clock, no thread,
// no lock and no Python. The governor's thread owns it; the account's mutex
// guards the budget that a reading points to.
//
// A wake-up is: Control_needs_account, Control_step, the work that it has
// decided, Control_pause. Times are seconds of one clock of the caller's. One
// that jumps delays nothing by more than the longest pause of its kind.
#ifndef OCULAR_TRACER_BUDGET_CONTROL_H
#define OCULAR_TRACER_BUDGET_CONTROL_H

#include "tracer/budget/budget.h"

#include <stdbool.h>
#include <stdint.h>

// The governor's knowledge as it wakes up.
struct ControlReading {
    struct Budget *budget; // with a fresh reading, for the caller to guard;
                           // NULL: as of the last step
    uint32_t newest_code;  // id of the code object that was adopted last
    bool asked;            // a viewer waits for something
};

struct ControlDecision {
    bool attend;       // take the interpreter's lock, for a hold
    bool full;         // ... a full one, not only what is left to do
    bool rank;         // rank the functions first, then Control_ranked
    bool arm_new;      // code that is adopted is armed at once
    double sampler_hz; // samples a CPU second; 0: leave the rate as it is
};

struct Control {
    bool held;          // there is a budget to hold
    double rate;        // s of allowance a second; 1 without a budget
    double refill_rate; // the budget's; 1 without a budget
    double hooks_rate;  // s a second that hooks and arming may take
    double cores;       // CPU s a second that the program uses
    double hooks;       // s of CPU time that hooks took so far,
    double spent;       // ... and hooks and arming
    double hz;          // the sampler's rate, as decided last; 0: not yet
    bool overdrawn;     // more was spent than there was
    bool more;          // the last hold has left something to do
    bool burst;         // much new code comes
    uint32_t newest_code;
    double looked_s; // when newest_code was that
    double burst_until_s, due_s, rank_due_s;
};

void Control_init(struct Control *control);
// The thread begins, or begins again after a fork. s until it wakes up first.
double Control_begin(struct Control *control, double now_s);
// Is the next step to have a budget in its reading? Reading all clocks takes
// some 20 us.
bool Control_needs_account(const struct Control *control, double now_s,
                           uint32_t newest_code);
struct ControlDecision Control_step(struct Control *control, double now_s,
                                    const struct ControlReading *reading);
// The functions were ranked, which has taken so much CPU time.
void Control_ranked(struct Control *control, double now_s, double took_s);
// Is it worth it to go through bytecode at once? Not on credit, nor if
// nothing runs.
bool Control_may_hurry(const struct Control *control);
// s until the next wake-up. `more`: a hold has left something to do.
double Control_pause(struct Control *control, double now_s, bool more);
// May a viewer's request wake up the governor at once, and not wait for the
// next hold? *next_s is the caller's, 0 at first: any thread may ask.
bool Control_may_wake(double *next_s, double now_s);
// Is `time` still to come? No time is put further ahead than `most`: one that
// lies there means that the counter has gone back, as after a suspension.
static inline bool Control_is_ahead(uint64_t time, uint64_t now, uint64_t most)
{
    return now < time && time - now <= most;
}

#endif
