// SPDX-License-Identifier: MIT
// The viewer's knowledge of the traced process: the newest snapshot, a row for
// each function with its history, and the user's choices about rows: sorting
// and filter. It draws nothing and sends nothing. One thread.
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
    struct Snapshot *snapshot; // owned; NULL before the first
    struct RowTable rows;
    uint32_t *order; // indexes of the rows that are shown, sorted; owned
    size_t order_capacity;
    size_t shown;
    struct Window window; // of the snapshot
    bool sampled;         // some function has a share, or a sampler runs
    bool one_thread;      // shares and rows are those of `thread` alone
    struct ThreadKey thread;
    enum ColumnId sort;
    bool invert;
    bool hide_idle;
    size_t hidden; // idle rows that pass the filter
    char filter[MODEL_TEXT];
    char search[MODEL_TEXT];
    struct Tally tally;
    float
        trend[TREND_LENGTH]; // of Model_share, the newest last; NaN: not known
    bool baseline;           // columns show the change since baseline_uptime
    double baseline_uptime;
    struct Mark baseline_mark;
    struct Mark reset_mark;
    bool reset; // counts are since the base_* below
    double base_uptime;
    uint64_t base_events;
    uint64_t base_lost;
};

void Model_init(struct Model *model);
void Model_release(struct Model *model);
// Takes over the snapshot. 0, or -ENOMEM: it is freed, and the model is as it
// was.
int Model_push(struct Model *model, struct Snapshot *snapshot);
// Lets calls, cycles and events count from now on.
void Model_reset(struct Model *model);
// Lets columns show the change since now; called again, ends that.
void Model_baseline(struct Model *model);
// Returns a change's count since the reset or the baseline.
double Model_pair_count(const struct Model *model,
                        const struct TransitionPair *pair);

// Returns the column that sorts: the user's, or SELF where shares are missing.
enum ColumnId Model_sort_column(const struct Model *model);
void Model_sort_by(struct Model *model, enum ColumnId column);
void Model_invert(struct Model *model);
void Model_filter(struct Model *model, const char *text); // "" shows all
void Model_toggle_idle(
    struct Model *model); // hides idle functions, or shows them

// Shows one thread alone; NULL: all threads. Another choice drops the baseline,
// whose shares are those of another thread.
void Model_watch(struct Model *model, const struct Thread *thread);
// Returns the chosen thread as of now; NULL: all, or it is not listed any more.
const struct Thread *Model_thread(const struct Model *model);

// Returns the CPU share of all threads, or of the chosen one.
double Model_share(const struct Model *model);
// Returns the chosen thread's share in functions without a row: a process lists
// each thread's hottest functions only. NaN: all threads are shown.
double Model_unlisted(const struct Model *model);

const struct Row *Model_row(const struct Model *model, size_t index);
// Returns the function's row, shown or not; NULL: the snapshot does not list
// it.
const struct Row *Model_row_of(const struct Model *model, uint64_t id);
// Is the function of that id among the rows that are shown?
bool Model_shows(const struct Model *model, uint64_t id);

#endif
