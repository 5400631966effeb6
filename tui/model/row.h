// SPDX-License-Identifier: MIT
// One function as this viewer follows it: its newest numbers, those at the
// reset and at the baseline, and the history of its share. Owned by the model;
// columns and views read it. One thread.
#ifndef OCULAR_TUI_MODEL_ROW_H
#define OCULAR_TUI_MODEL_ROW_H

#include "ipc/snapshot.h"
#include "tui/model/window.h"

#include <stdbool.h>

enum ColumnId { // in the order of the screen
#define COLUMN(id, ...) COLUMN_##id,
#include "tui/model/columns.def"
    COLUMN_COUNT
};

#define TREND_LENGTH 32

// Seconds. Data of a function that is not armed is old after this time.
#define STALE_S 30.0

// A function with this share of a core runs; the share of a stopped one fades.
#define RUNS_SHARE 0.005

// Seconds. A function without a share that was not called for so long is idle.
#define IDLE_S 60.0

struct RowBase { // subtracted from the counts; 0: they are since the start
    double calls;
    double estimated;
    double self;
    double total;
    double waited;
    double samples;
};

struct Row {
    uint64_t id;
    const struct Function *now; // in the model's snapshot; NULL: not in it
    bool part; // one thread is chosen: part_share counts, not `now`
    double part_share;
    struct Window window; // of the snapshot, for its shares
    struct RowBase base;
    double mark[COLUMN_COUNT]; // the columns' keys at the baseline; NaN: none
    float trend[TREND_LENGTH]; // shares, the newest last; NaN: not measured
    unsigned unseen; // newest snapshots in a row that lack this function
    bool deopt;      // a site has just lost its specialisation
};

void Row_init(struct Row *row, uint64_t id);
void Row_push_trend(struct Row *row, double share);
void Row_reset(struct Row *row); // lets its counts begin now

// Returns a number of a snapshot; null is NaN.
double Row_u64(uint64_t value);
double Row_share(const struct Row *row);     // of the chosen thread, or of all
double Row_calls(const struct Row *row);     // seen
double Row_estimated(const struct Row *row); // NaN: there is no estimate
// It is off by a quarter once in twenty times, or an older version does not say
// by how much it is.
bool Row_is_sure(const struct Row *row);
double Row_best_calls(const struct Row *row);
double Row_self(const struct Row *row); // of timed calls
// The same; where calls could not be timed, they are taken for mean ones.
double Row_spent(const struct Row *row);
bool Row_spent_estimated(const struct Row *row);
double Row_total(const struct Row *row); // a floor unless calls are exact
double Row_waited(const struct Row *row);
double Row_samples(const struct Row *row);
bool Row_calls_exact(const struct Row *row);
bool Row_is_old(const struct Row *row);
// Is it old, though it runs? A function that is not called has no newer data.
bool Row_is_stale(const struct Row *row);
// May it run? Not if the samples of the window show otherwise.
bool Row_may_run(const struct Function *function);
// Is it idle: not called in the last minute, and in no sample of the window,
// neither itself nor its callees, neither running nor waiting?
bool Row_is_idle(const struct Row *row);
// Returns the cycles a second that its calls take: calls a second times mean
// cost. 0: not known.
double Row_recent_cost(const struct Row *row);
// Returns the samples that an estimated rate rests on; NaN: not known.
double Row_rate_samples(const struct Row *row);

#endif
