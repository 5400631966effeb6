// SPDX-License-Identifier: MIT
// struct Row contains the newest numbers of one function, its numbers at the
// reset and at the baseline, and the history of its share. The model owns the
// rows, and columns and views read them.
#pragma once

#include "ipc/snapshot.h"
#include "tui/model/standout.h"
#include "tui/model/window.h"

#include <stdbool.h>

enum ColumnId { // Columns in the order on the screen.
#define COLUMN(id, ...) COLUMN_##id,
#include "tui/model/columns.def"
    COLUMN_COUNT
};

#define TREND_LENGTH 32

// If a function has no hooks, its data count as old after OLD_S seconds, and as
// stale after STALE_S seconds. Two slices (times with hooks) are at most 75 s
// apart (60 s and up to a quarter more). If the budget is overdrawn, two slices
// are up to twice as far apart, which is STALE_S.
#define OLD_S 30.0
#define STALE_S 150.0

// A function with at least this share of a core counts as running. (The share
// of a function that has stopped decreases slowly.)
#define RUNS_SHARE 0.005

// A function without a share is idle if its last call was more than IDLE_S
// seconds ago.
#define IDLE_S 60.0

// A call hangs if it takes longer than HANG_S seconds and longer than
// HANG_TIMES times P99. If P99 is not known, a call hangs if it takes longer
// than HANG_S seconds and longer than the longest ended call. At least
// HANG_ENDED calls of the function must have ended, because a main loop or a
// thread of a pool may run for hours. Fewer calls are enough for the program's
// own function if all its calls began later than HANG_LATE_S seconds after
// tracing, and look like no main loop. If none of them has ended, one hangs
// after HANG_FIRST_S seconds.
#define HANG_S 1.0
#define HANG_ENDED 10
#define HANG_TIMES 10
#define HANG_LATE_S 5.0
#define HANG_FIRST_S 5.0

// struct RowBase contains the counts at the reset, which are subtracted from
// the newest counts. Before the first reset all members are 0.
struct RowBase {
    double calls;
    double estimated;
    double self;
    double total;
    double waited;
    double samples;
    double raised;
};

struct Row {
    uint64_t id;
    // The function in the model's snapshot, or NULL if the snapshot does not
    // list the function.
    const struct Function *now;
    // True if the user has chosen one thread. If `part` is true, part_share is
    // the function's share in this thread.
    bool part;
    double part_share;
    // Stretch of time in which the snapshot's shares were measured.
    struct Window window;
    double uptime_s; // Time of the snapshot in seconds since tracing began.
    // The worker whose numbers for this function stand out. The worker is
    // unknown if the snapshot is of one process.
    struct FunctionStandouts workers;
    // CPU time of the function and its callees in seconds since the sampler
    // began, and the number of samples on which it is based (NaN = unknown).
    double cpu_s, cpu_samples;
    struct RowBase base;
    // The values of the columns at the baseline (NaN = unknown).
    double mark[COLUMN_COUNT];
    // The function's newest shares, the newest at the end (NaN = not measured).
    float trend[TREND_LENGTH];
    // Number of snapshots since the last snapshot that listed this function.
    unsigned unseen;
    bool deopt; // True if an instruction has just lost its specialised form.
};

void Row_init(struct Row *row, uint64_t id);
void Trend_push(float trend[TREND_LENGTH], double share);
// Divides `count` values into `parts` equal parts, and sets `out` to their
// means.
void Trend_squeeze(float *out, int parts, const float *values, int count);
// Stores the function's newest numbers. Also stores the workers that stand out,
// unless `standouts` is NULL.
void Row_take(struct Row *row, const struct Function *now, struct Window window,
              const struct Standouts *standouts);
void Row_reset(struct Row *row); // Makes the row's counts begin now.

// Converts a number of a snapshot to a double, in which NaN stands for null.
double Row_u64(uint64_t value);
// Adds two numbers, of which NaN counts as nothing. The sum of two NaN is NaN.
double Row_sum(double a, double b);
// Returns the function's share in the chosen thread, or in all threads.
double Row_share(const struct Row *row);
double Row_calls(const struct Row *row); // Returns the number of counted calls.
// Returns the estimated number of calls, or NaN if there is no estimate.
double Row_estimated(const struct Row *row);
// Returns true if the function's numbers come from slices (times in which all
// functions have hooks). In a slice, calls are counted over a known time.
bool Row_is_sliced(const struct Row *row);
// Returns false if the standard error of the estimated number of calls is known
// to be too large. The limit is an eighth of the estimate. With an error of an
// eighth, one estimate in twenty is wrong by more than a quarter. For estimates
// from slices the limit is a half.
bool Row_is_sure(const struct Row *row);
// Returns true if an estimate from slices is so rough that only its first digit
// is known.
bool Row_is_rough(const struct Row *row);
double Row_best_calls(const struct Row *row);
// Returns the self cycles of all timed calls.
double Row_self(const struct Row *row);
// Returns Row_self, plus the mean cost for each call that was not timed.
double Row_spent(const struct Row *row);
bool Row_spent_estimated(const struct Row *row);
// Returns the cycles of the function and its callees. If Row_calls_exact
// returns false, the real number may be larger.
double Row_total(const struct Row *row);
bool Row_calls_exact(const struct Row *row);
bool Row_is_old(const struct Row *row);
// Returns true for a C function with a row of its own.
bool Row_is_c(const struct Row *row);
// Returns true if the function's data are old although the function may be
// running. (If a function is not called, there are no newer data.)
bool Row_is_stale(const struct Row *row);
// Returns false if the samples of the window show that the function does not
// run.
bool Row_may_run(const struct Function *function);
// Returns the mean CPU time of a call and its callees, in seconds. Returns NaN
// if the CPU time or the number of calls is not known.
double Row_cpu(const struct Row *row);
// Returns true if the function's calls in flight began when the program had
// already run for some time, and look like no main loop.
bool Row_is_late(const struct Row *row);
// Returns true if the function's oldest unfinished call hangs.
bool Row_hangs(const struct Row *row);
// Returns true if the function was not called in the last minute, has no
// unfinished call, and is on no stack that was sampled in the window. Samples
// of waiting threads count, too.
bool Row_is_idle(const struct Row *row);
// Returns the cycles per second that the function uses, which are its calls per
// second times their mean cost. Returns 0 if the calls per second or the mean
// cost is not known.
double Row_recent_cost(const struct Row *row);
// Returns the number of samples on which the rate of calls is based, or NaN if
// that number is not known.
double Row_rate_samples(const struct Row *row);
