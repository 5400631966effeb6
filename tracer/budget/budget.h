// SPDX-License-Identifier: MIT
// The overhead budget compares the cost of tracing with the program's own CPU
// time, and computes how much time tracing may spend next. All functions of
// struct Budget compute only from their arguments, because the caller passes
// the readings. Threads that share a struct Budget must lock it.
//
// The overhead is controlled by a token bucket. The income of the bucket is
// nine tenths of the budget, which is a fraction of the program's CPU time. A
// program that uses less than a fifth of a core counts as using a fifth of a
// core. All costs of tracing are taken out of the bucket when they are
// measured. A cost that was estimated wrongly therefore changes the level of
// the bucket. As long as the level of the bucket stays above 0, the mean
// overhead is at most the budget. budget.c decides by the level of the bucket
// how much tracing may spend.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// A program that uses fewer cores counts as using this number of cores.
#define BUDGET_CORES 0.2
#define BUDGET_WINDOW 10.0 // Length of the window in seconds.
#define BUDGET_SLICE 0.15  // Least number of seconds between two kept readings.
#define BUDGET_KEPT 80

// Sums since the trace began, in seconds.
struct BudgetReading {
    double wall;
    double cpu;   // CPU time of the process, with Ocular's CPU time.
    double hooks; // Time of hooks on the program's threads.
    // The part of `hooks` that was measured, and the part that was in Ocular's
    // code, according to samples.
    double paid, found;
    double rearm; // CPU time of the governor's thread.
    // CPU time of Ocular's other threads, of samples and of Ocular's part of
    // forks.
    double threads;
    double sampling; // The part of `threads` that samples took.
    uint64_t samples;
};

// The overhead of tracing as fractions of the CPU time that the program itself
// used. A fraction is NaN if the program used no CPU time.
struct BudgetShares {
    double measured; // Sum of `hooks`, `rearm` and `threads`.
    double hooks;
    double rearm;
    double threads;
    // The largest fraction allowed: the budget, or more if the program uses
    // little CPU time.
    double allowed;
    // Measured overhead in cores, which is also valid for an idle program.
    double cores;
    double cores_allowed; // Allowed overhead in cores.
};

struct Budget {
    // The budget as a fraction, or NaN if the overhead is only measured.
    double share;
    struct BudgetReading kept[BUDGET_KEPT]; // Ring buffer of earlier readings.
    unsigned next, count;
    struct BudgetReading origin;
    // The newest reading, which is not always in `kept`.
    struct BudgetReading last;
    double rate; // Allowance in seconds per second over the last 2 s.
    // The lower one of `rate` and of the allowance per second over the last
    // half second.
    double refill_rate;
    double level; // Seconds in the token bucket. A number below 0 is a debt.
    // Seconds by which the minimum rate has raised the income of the bucket, if
    // above 0.
    double unused;
    double sample; // Seconds of CPU time per sample.
};

// Starts the budget at `reading`. The token bucket is full at the start, so
// that new code can be armed at once.
void Budget_init(struct Budget *budget, double share,
                 const struct BudgetReading *reading);
void Budget_set(struct Budget *budget, double share);
// Adds the next reading to the budget.
void Budget_read(struct Budget *budget, const struct BudgetReading *reading);

// Returns the fractions of overhead over the last BUDGET_WINDOW seconds.
struct BudgetShares Budget_window(const struct Budget *budget);
// Returns the fraction of overhead since the trace began.
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
// arming get half of the allowance, or less if Ocular's threads without the
// sampler need more.
double Budget_hooks(const struct Budget *budget);
