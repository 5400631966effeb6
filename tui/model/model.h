// SPDX-License-Identifier: MIT
// The viewer's data about the traced process: the newest snapshot, a row with a
// history for each function, and the user's choices about rows (sorting,
// filter). The model draws nothing and sends nothing. One thread.
#ifndef OCULAR_TUI_MODEL_MODEL_H
#define OCULAR_TUI_MODEL_MODEL_H

#include "tui/model/baseline.h"
#include "tui/model/column.h"
#include "tui/model/row.h"
#include "tui/model/row_order.h"
#include "tui/model/row_table.h"
#include "tui/model/tally.h"

#include <stdbool.h>

#define MODEL_TEXT 256

struct Model {
    // the newest snapshot; owned; NULL before the first one
    struct Snapshot *snapshot;
    struct RowTable rows;
    uint32_t *order; // sorted indices of the rows that are shown; owned
    size_t order_capacity;
    size_t shown;
    struct Window window; // window of the snapshot
    bool sampled;         // a function has a share, or a sampler runs
    bool one_thread;      // shares and rows are those of `thread` only
    struct ThreadKey thread;
    enum ColumnId sort;
    bool invert;
    bool hide_idle;
    size_t hidden; // number of idle rows that pass the filter
    char filter[MODEL_TEXT];
    char search[MODEL_TEXT];
    struct Tally tally;
    float
        // values of Model_share, the newest last; NaN: not known
        trend[TREND_LENGTH];
    // The run is over: rows have no curves, and `trend` is that of the whole
    // run.
    bool past;
    bool baseline; // columns show the change since baseline_uptime
    double baseline_uptime;
    struct Mark baseline_mark;
    struct Mark reset_mark;
    bool reset; // counts are relative to the base_* fields below
    double base_uptime;
    uint64_t base_events;
    uint64_t base_lost;
};

void Model_init(struct Model *model);
void Model_release(struct Model *model);
// Takes over the snapshot. Returns 0, or -ENOMEM: then the snapshot is freed
// and the model is unchanged.
int Model_push(struct Model *model, struct Snapshot *snapshot);
// Forgets all rows and marks: the next snapshot has other ids and counts.
void Model_start_over(struct Model *model);
// Makes calls, cycles and events count from now on.
void Model_reset(struct Model *model);
// Makes columns show the change since now, or switches this off again.
void Model_baseline(struct Model *model);
// Returns the count of a transition since the reset or the baseline.
double Model_pair_count(const struct Model *model,
                        const struct TransitionPair *pair);

// Returns the column that sorts the rows: the user's choice, or SELF if shares
// are missing.
enum ColumnId Model_sort_column(const struct Model *model);
void Model_sort_by(struct Model *model, enum ColumnId column);
void Model_invert(struct Model *model);
// Shows only rows that contain `text`; "" shows all.
void Model_filter(struct Model *model, const char *text);
void Model_toggle_idle(struct Model *model); // hides or shows idle functions

// Shows the data of one thread; NULL: of all threads. The choice of another
// thread drops the baseline, because its shares belong to the old thread.
void Model_watch(struct Model *model, const struct Thread *thread);
// Returns the chosen thread in the newest snapshot. Returns NULL if all threads
// are shown, or if the thread is not listed any more.
const struct Thread *Model_thread(const struct Model *model);

// Returns the CPU share of the chosen thread, or of all threads.
double Model_share(const struct Model *model);
// Returns the chosen thread's share in functions without a row: a process lists
// only the hottest functions of each thread. Returns NaN if there is no such
// function or all threads are shown.
double Model_unlisted(const struct Model *model);

const struct Row *Model_row(const struct Model *model, size_t index);
// Returns the function's row, even if it is not shown. Returns NULL if the
// snapshot does not list the function.
const struct Row *Model_row_of(const struct Model *model, uint64_t id);
// Returns true if the function is among the rows that are shown.
bool Model_shows(const struct Model *model, uint64_t id);

#endif
