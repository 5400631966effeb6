// SPDX-License-Identifier: MIT
// One function as this viewer follows it: its numbers of now, what they were
// when the user pressed r, and the history of its share. Owned by the model;
// columns and views read it. One thread.
#ifndef OCULAR_TUI_ROW_H
#define OCULAR_TUI_ROW_H

#include "ipc/snapshot.h"

#include <stdbool.h>

#define TREND_LENGTH 32

// A dark function that has gained no hit for so long tells old news.
#define STALE_S 30.0

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
    struct RowBase base;
    float trend[TREND_LENGTH]; // shares, the newest last; NaN = not measured
    unsigned unseen;           // snapshots in a row without this function
    bool deopt;                // a site lost its specialisation just now
};

void Row_init(struct Row *row, uint64_t id);
void Row_push_trend(struct Row *row, double share);
void Row_reset(struct Row *row); // count from now

// Null is NaN.
double Row_u64(uint64_t value);
double Row_calls(const struct Row *row);     // seen
double Row_estimated(const struct Row *row); // NaN when there is no estimate
double Row_best_calls(const struct Row *row);
double Row_self(const struct Row *row);
double Row_total(const struct Row *row);
double Row_waited(const struct Row *row);
double Row_samples(const struct Row *row);
bool Row_calls_exact(const struct Row *row);
bool Row_is_stale(const struct Row *row);

#endif
