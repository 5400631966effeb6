// SPDX-License-Identifier: MIT
// The overhead budget: an account of the cost of tracing and of the program's
// own CPU time, and of the time that may be spent next. Pure: it is fed with
// readings and knows no clock, no thread and no Python; a user that shares one
// locks it.
//
// The control is a token bucket. It fills with nine tenths of the budget's
// share of the program's CPU time, which counts as at least a fifth of one
// core. Everything that tracing costs is taken out as it is measured. So the
// level is the sum of all errors so far: while it is held above empty, the mean
// overhead is within the budget. The level decides how much is spent, see the
// .c.
#ifndef OCULAR_TRACER_BUDGET_BUDGET_H
#define OCULAR_TRACER_BUDGET_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define BUDGET_CORES 0.2   // the least that a program is taken to use
#define BUDGET_WINDOW 10.0 // s
#define BUDGET_SLICE 0.15  // s, the least between two readings that are kept
#define BUDGET_KEPT 80

// Sums since the trace began, in seconds.
struct BudgetReading {
    double wall;
    double cpu;      // of the process, with all of ours
    double hooks;    // ours: on the program's threads, at events
    double rearm;    // the governor's thread; hooks that it arms count as hooks
    double threads;  // our other threads, samples, and our part of forks
    double sampling; // of these: samples, on the program's threads
    uint64_t samples;
};

// Shares of the CPU time that the program used without us; NaN where it used
// none.
struct BudgetShares {
    double measured; // the sum of the next three
    double hooks;
    double rearm;
    double threads;
    double allowed; // the budget, or more if the program uses little
    double cores;   // measured and allowed as parts of one core, which they
    double cores_allowed; // ... are also of a program that uses nothing
};

struct Budget {
    double share; // NaN: nothing is held, all is measured
    struct BudgetReading kept[BUDGET_KEPT]; // a ring
    unsigned next, count;
    struct BudgetReading origin;
    struct BudgetReading last; // the newest reading; it may not be kept
    double rate;               // allowance, s a second, over the last 2 s
    double refill_rate;        // allowance of the last half second, if less
    double level;              // s in the token bucket; below 0: a debt
    double unused;             // s that the floor adds, if more than 0
    double sample;             // s of CPU time that a sample takes
};

// Begins at `reading`. The token bucket starts full, so that new code can
// be armed at once.
void Budget_init(struct Budget *budget, double share,
                 const struct BudgetReading *reading);
void Budget_set(struct Budget *budget, double share);
// The next reading.
void Budget_read(struct Budget *budget, const struct BudgetReading *reading);

// The shares measured over the window.
struct BudgetShares Budget_window(const struct Budget *budget);
// The share measured since the trace began.
double Budget_mean(const struct Budget *budget);

// CPU time that the program has used a second, over the last 2 s.
double Budget_cores(const struct Budget *budget);
// Is there less than nothing in the bucket?
bool Budget_is_overdrawn(const struct Budget *budget);
// The program pauses, so that a snapshot costs more than it earns, and nearly
// all of the window's allowance is spent: snapshots had better wait.
bool Budget_is_throttled(const struct Budget *budget);
// Samples for each second of CPU time that the program uses.
double Budget_hz(const struct Budget *budget);
// s a second that hooks and arming may take: half of the allowance, or the part
// of that which our threads other than the sampler leave.
double Budget_hooks(const struct Budget *budget);

#endif
