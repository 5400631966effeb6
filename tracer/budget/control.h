// SPDX-License-Identifier: MIT
// Decides when the governor wakes up, what it does then and what it may spend:
// the sampler's rate, the threshold, slices, rankings. Pure: it is handed the
// time and what was measured, and knows no clock, no thread, no lock and no
// Python. The governor's thread owns it and does what it says; the
// account's mutex guards the budget that a reading points to.
//
// A wake-up is: Control_needs_account, Control_step, what the decision says,
// Control_pause. Times are seconds of one clock of the caller's. One that jumps
// delays nothing by more than the longest pause of its kind.
#ifndef OCULAR_TRACER_BUDGET_CONTROL_H
#define OCULAR_TRACER_BUDGET_CONTROL_H

#include "tracer/budget/budget.h"
#include "tracer/budget/policy.h"

#include <stdbool.h>
#include <stdint.h>

// What the governor knows as it wakes up.
struct ControlReading {
    struct Budget *budget; // with a fresh reading, for the caller to guard;
                           // NULL: as of the last step
    uint32_t newest_code;  // id of the code object that was adopted last
    bool asked;            // a viewer waits for something
    double call_s;         // that the hooks of a call take now
    uint32_t active; // functions that were called since the ranking before
};

struct ControlDecision {
    bool attend;         // take the interpreter's lock, for a slice
    bool full;           // ... a full one, not only what is left to do
    bool rank;           // rank the functions first, then Control_ranked
    uint64_t first_hits; // of code that is adopted from now on
    bool arm_new;        // it is armed at once, as that can be afforded
    uint64_t hits;       // that what is armed may have in a second before it
                         // goes dark; 0: they count for good
    double sampler_hz;   // samples a CPU second; 0: leave the rate as it is
};

struct Control {
    uint64_t threshold; // hits after which code goes dark; 0: never
    bool held;          // there is a budget to hold
    double rate;        // s of allowance a second; 1 without a budget
    double refill_rate; // the budget's; 1 without a budget
    double pressure;    // of debt, 0 to 1
    double cores;       // CPU s a second that the program uses
    double available;   // s that may be reserved,
    double urgent;      // ... and to whoever has asked for it
    double room;        // s a second that more hooks may take
    double spent;       // s that were, and the budget has not heard of yet
    double hz;          // the sampler's rate, as decided last; 0: not yet
    uint64_t hits;      // the threshold that floats: Budget_hits
    double active;      // the most functions called from one ranking to the
                        // next, of late; 0: not known yet
    bool overdrawn;     // more was spent than there was
    bool more;          // the last slice has left something to do
    bool burst;         // much new code comes
    uint32_t newest_code;
    double active_s; // when active was that
    double looked_s; // when newest_code was that
    double burst_until_s, due_s, rank_due_s;
};

void Control_init(struct Control *control, uint64_t threshold);
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
// Something was armed that is going to cost that much.
void Control_spend(struct Control *control, double seconds);
// Is it worth it to go through bytecode at once? Not on credit, nor where
// nothing runs.
bool Control_may_hurry(const struct Control *control);
// s until the next wake-up. `more`: a slice has left something to do.
double Control_pause(struct Control *control, double now_s, bool more);

// May a viewer's wish wake up the governor at once, and not wait for the next
// slice? *next_s is the caller's, 0 at first: any thread may ask.
bool Control_may_wake(double *next_s, double now_s);

#endif
