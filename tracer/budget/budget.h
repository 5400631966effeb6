// SPDX-License-Identifier: MIT
// The overhead budget compares the cost of tracing with the program's own CPU
// time, and computes how much time tracing may spend next. All functions are
// pure, because the caller passes the readings. Threads that share a budget
// must lock it.
//
// The control is a token bucket. The income of the bucket is nine tenths of the
// budget, which is a share of the program's CPU time. A program that uses less
// than a fifth of a core counts as using a fifth. All costs of tracing are
// taken out of the bucket when they are measured. So a cost that was estimated
// wrongly changes the level of the bucket. While the level stays above 0, the
// mean overhead is at most the budget. budget.c decides from the level how much
// tracing may spend.
#ifndef OCULAR_TRACER_BUDGET_BUDGET_H
#define OCULAR_TRACER_BUDGET_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

// If the program uses fewer cores, this number of cores counts as used.
#define BUDGET_CORES 0.2
#define BUDGET_WINDOW 10.0 // length of the window in seconds
#define BUDGET_SLICE 0.15  // least time between two kept readings in seconds
#define BUDGET_KEPT 80

// Sums since the trace began, in seconds.
struct BudgetReading {
    double wall;
    double cpu;   // CPU time of the process, including ours
    double hooks; // our time in hooks on the program's threads
    double found; // the part of this time in our code, by samples
    double rearm; // CPU time of the governor's thread
    // CPU time of our other threads, of samples and of our part of forks
    double threads;
    double sampling; // the part of `threads` that samples took
    uint64_t samples;
};

// The overhead as shares of the CPU time that the program used without us. A
// share is NaN if the program used no CPU time.
struct BudgetShares {
    double measured; // the sum of the next three fields
    double hooks;
    double rearm;
    double threads;
    double allowed; // the budget, or a larger share if the program uses little
                    // CPU time
    double cores; // measured overhead in cores; also valid for an idle program
    double cores_allowed; // allowed overhead in cores
};

struct Budget {
    // NaN if tracing has no limit, but its cost is still measured
    double share;
    struct BudgetReading kept[BUDGET_KEPT]; // a ring of earlier readings
    unsigned next, count;
    struct BudgetReading origin;
    struct BudgetReading last; // the newest reading; `kept` may lack it
    double rate; // allowance in seconds per second over the last 2 s
    // the lower of `rate` and the rate of the last half second
    double refill_rate;
    double level;  // seconds in the token bucket; a number below 0 is a debt
    double unused; // seconds of income that the minimum rate adds, if above 0
    double sample; // seconds of CPU time per sample
};

// Starts at `reading`. The token bucket starts full, so that new code can be
// armed at once.
void Budget_init(struct Budget *budget, double share,
                 const struct BudgetReading *reading);
void Budget_set(struct Budget *budget, double share);
// Adds the next reading.
void Budget_read(struct Budget *budget, const struct BudgetReading *reading);

// Returns the shares of overhead over the last BUDGET_WINDOW seconds.
struct BudgetShares Budget_window(const struct Budget *budget);
// Returns the share of overhead since the trace began.
double Budget_mean(const struct Budget *budget);

// Returns the CPU seconds per second that the program has used over the last 2
// s.
double Budget_cores(const struct Budget *budget);
// Returns true if the token bucket is in debt.
bool Budget_is_overdrawn(const struct Budget *budget);
// Returns true if snapshots should wait. Snapshots should wait if nearly all of
// the window's allowance is spent and the program pauses, because during a
// pause a snapshot costs more than the bucket's income.
bool Budget_is_throttled(const struct Budget *budget);
// Returns the number of samples per second of the program's CPU time.
double Budget_hz(const struct Budget *budget);
// Returns the seconds per second that hooks and arming may take. Hooks and
// arming get half of the allowance, or less if our threads other than the
// sampler need more.
double Budget_hooks(const struct Budget *budget);

#endif
