// SPDX-License-Identifier: MIT
// One function as this viewer follows it: its numbers of now, what they were
// when the user pressed r or b, and the history of its share. Owned by the
// model; columns and views read it. One thread.
#ifndef OCULAR_TUI_MODEL_ROW_H
#define OCULAR_TUI_MODEL_ROW_H

#include "ipc/snapshot.h"
#include "tui/model/window.h"

#include <stdbool.h>

enum ColumnId { // in the order of the screen
    COLUMN_SHARE,
    COLUMN_TREND,
    COLUMN_TOTAL_SHARE,
    COLUMN_C_SHARE,
    COLUMN_WAIT_SHARE,
    COLUMN_RATE,
    COLUMN_CALLS,
    COLUMN_AVG,
    COLUMN_MIN,
    COLUMN_P50,
    COLUMN_P99,
    COLUMN_SELF,
    COLUMN_TOTAL,
    COLUMN_WAITED,
    COLUMN_STATE,
    COLUMN_SITES,
    COLUMN_SPEC,
    COLUMN_FUNCTION,
    COLUMN_FILE,
    COLUMN_COUNT
};

#define TREND_LENGTH 32

// What a function that is not armed has told so long ago is old.
#define STALE_S 30.0

// A function that has so much of a core runs; what has stopped fades away.
#define RUNS_SHARE 0.005

// What was not called for so long, and has no share, is idle.
#define IDLE_S 60.0

struct RowBase { // subtracted from the counts; 0 = since tracing started
    double calls;
    double estimated;
    double self;
    double total;
    double waited;
    double samples;
};

struct Row {
    uint64_t id;
    const struct Function *now; // in the model's snapshot; NULL = not in it
    bool part; // one thread is chosen, and part_share is what it has of it
    double part_share;
    struct Window window; // of the snapshot
    struct RowBase base;
    double mark[COLUMN_COUNT]; // the columns' keys at the baseline, or NaN
    float trend[TREND_LENGTH]; // shares, the newest last; NaN = not measured
    unsigned unseen;           // snapshots in a row without this function
    bool deopt;                // a site lost its specialisation just now
};

void Row_init(struct Row *row, uint64_t id);
void Row_push_trend(struct Row *row, double share);
void Row_reset(struct Row *row); // count from now

// Null is NaN.
double Row_u64(uint64_t value);
double Row_share(const struct Row *row);     // of the thread chosen, or of all
double Row_calls(const struct Row *row);     // seen
double Row_estimated(const struct Row *row); // NaN when there is no estimate
double Row_best_calls(const struct Row *row);
double Row_self(const struct Row *row);
double Row_total(const struct Row *row);
double Row_waited(const struct Row *row);
double Row_samples(const struct Row *row);
bool Row_calls_exact(const struct Row *row);
bool Row_is_old(const struct Row *row);
// Old, though it runs. Of one that is not called nothing new is to be told.
bool Row_is_stale(const struct Row *row);
// No, where the samples of the last seconds say so.
bool Row_may_run(const struct Function *function);
// Not called in the last minute, and in no sample of the window: neither
// running nor waiting, nor anything that it called.
bool Row_is_idle(const struct Row *row);
// Cycles a second that its calls take: calls a second times mean cost. 0 where
// that is not known.
double Row_recent_cost(const struct Row *row);
// Samples that an estimated rate rests on; NaN: not known.
double Row_rate_samples(const struct Row *row);

#endif
