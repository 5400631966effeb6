// SPDX-License-Identifier: MIT
// One function in this viewer: its newest numbers, its numbers at the reset and
// at the baseline, and the history of its share. Owned by the model; columns
// and views read it. One thread.
#ifndef OCULAR_TUI_MODEL_ROW_H
#define OCULAR_TUI_MODEL_ROW_H

#include "ipc/snapshot.h"
#include "tui/model/window.h"

#include <stdbool.h>

enum ColumnId { // columns in the order on the screen
#define COLUMN(id, ...) COLUMN_##id,
#include "tui/model/columns.def"
    COLUMN_COUNT
};

#define TREND_LENGTH 32

// Seconds. The data of a function that is not armed is old after this time.
#define STALE_S 30.0

// A function with at least this share of a core is running. The share of a
// function that stopped decreases slowly.
#define RUNS_SHARE 0.005

// Seconds. A function without a share is idle if its last call is older.
#define IDLE_S 60.0

// numbers that are subtracted from the counts; 0: counts are since the start
struct RowBase {
    double calls;
    double estimated;
    double self;
    double total;
    double waited;
    double samples;
};

struct Row {
    uint64_t id;
    // the function in the model's snapshot; NULL: not listed there
    const struct Function *now;
    // one thread is chosen: its share is part_share, not that in `now`
    bool part;
    double part_share;
    struct Window window; // window of the snapshot's shares
    struct RowBase base;
    double mark[COLUMN_COUNT]; // the columns' keys at the baseline; NaN: none
    float trend[TREND_LENGTH]; // shares, the newest last; NaN: not measured
    // number of newest snapshots in a row without this function
    unsigned unseen;
    bool deopt; // an instruction has just lost its specialisation
};

void Row_init(struct Row *row, uint64_t id);
void Trend_push(float trend[TREND_LENGTH], double share);
void Row_reset(struct Row *row); // makes the row's counts start now

// Returns a number of a snapshot, or NaN for null.
double Row_u64(uint64_t value);
// Returns the share in the chosen thread, or in all threads.
double Row_share(const struct Row *row);
double Row_calls(const struct Row *row); // counted calls
// Returns the estimated calls, or NaN if there is no estimate.
double Row_estimated(const struct Row *row);
// Returns true unless the estimate's standard error is known and above an
// eighth of the estimate. With an error of an eighth, one estimate in twenty is
// off by more than a quarter.
bool Row_is_sure(const struct Row *row);
double Row_best_calls(const struct Row *row);
double Row_self(const struct Row *row); // cycles of timed calls
// Returns the same as Row_self, but adds the mean cost for calls that could not
// be timed.
double Row_spent(const struct Row *row);
bool Row_spent_estimated(const struct Row *row);
double Row_total(const struct Row *row); // a lower bound unless calls are exact
double Row_waited(const struct Row *row);
double Row_samples(const struct Row *row);
bool Row_calls_exact(const struct Row *row);
bool Row_is_old(const struct Row *row);
// Returns true if the data is old although the function may be running. A
// function that is not called has no newer data.
bool Row_is_stale(const struct Row *row);
// Returns true unless the samples of the window show that the function does not
// run.
bool Row_may_run(const struct Function *function);
// Returns true if the function was not called in the last minute, and neither
// it nor its callees are in a sample of the window, running or waiting.
bool Row_is_idle(const struct Row *row);
// Returns the cycles a second that the function's calls use: calls a second
// times mean cost. Returns 0 if this is not known.
double Row_recent_cost(const struct Row *row);
// Returns the number of samples behind an estimated rate, or NaN if it is not
// known.
double Row_rate_samples(const struct Row *row);

#endif
