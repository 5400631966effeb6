// SPDX-License-Identifier: MIT
// The model is the viewer's data about the traced process. The model has the
// newest snapshot, a row with a history for each function, and the user's
// choices of rows and their order. The model neither draws nor sends requests.
#pragma once

#include "tui/model/baseline.h"
#include "tui/model/calls.h"
#include "tui/model/row.h"
#include "tui/model/row_order.h"
#include "tui/model/row_table.h"
#include "tui/model/tally.h"

#include <stdbool.h>

#define MODEL_TEXT 256

struct Model {
    // The newest snapshot, owned, or NULL before the first snapshot.
    struct Snapshot *snapshot;
    struct RowTable rows;
    uint32_t *order; // Owned array with the sorted indices of the shown rows.
    size_t order_capacity;
    size_t shown;
    // Stretch of time in which the snapshot's shares were measured.
    struct Window window;
    bool sampled;    // True if the sampler runs or a function has a share.
    bool one_thread; // True if shares and rows are of `thread` only.
    struct ThreadKey thread;
    enum ColumnId sort;
    bool invert;
    bool latency; // True if the columns of the latency view are shown.
    // Sort order of the view that is not shown: the latency view or the main
    // view.
    enum ColumnId other_sort;
    bool other_invert;
    // True if only functions of the program's own code are shown.
    bool own_only;
    bool hide_idle;
    size_t hidden; // Number of idle rows that pass the filter.
    char filter[MODEL_TEXT];
    char search[MODEL_TEXT];
    // The workers whose numbers stand out in the newest snapshot, borrowed.
    // NULL if the snapshot is of one process.
    const struct Standouts *fleet;
    struct Tally tally;
    // The newest values of Model_share, the newest at the end (NaN = unknown).
    float trend[TREND_LENGTH];
    // True if the model shows the recording of a run. If so, the rows have no
    // curves, and `trend` covers the whole run.
    bool past;
    bool baseline; // True if columns show the change since baseline_uptime.
    double baseline_uptime;
    struct Mark baseline_mark;
    struct Mark reset_mark;
    bool reset; // True if counts are relative to the base_* fields below.
    double base_uptime;
    uint64_t base_events;
    uint64_t base_lost;
};

void Model_init(struct Model *model);
void Model_release(struct Model *model);
// Takes ownership of the snapshot, and updates the rows. Returns 0, or -ENOMEM.
// After -ENOMEM the snapshot is freed and the model is unchanged.
int Model_push(struct Model *model, struct Snapshot *snapshot);
// Forgets all rows and marks. Must be called if the next snapshot has other ids
// and counts.
void Model_start_over(struct Model *model);
// Makes the counts of calls, cycles and events begin at 0.
void Model_reset(struct Model *model);
// Makes columns show their change since this call. After a second call, columns
// show the values again.
void Model_baseline(struct Model *model);
// Returns the count of a transition since the reset or the baseline.
double Model_pair_count(const struct Model *model,
                        const struct TransitionPair *pair);

// Returns the column by which the rows are sorted. The rows are sorted by the
// column that the user has chosen. If the snapshot lacks the chosen column,
// because the snapshot has no shares or is of one process, the rows are sorted
// by another column.
enum ColumnId Model_sort_column(const struct Model *model);
void Model_sort_by(struct Model *model, enum ColumnId column);
void Model_invert(struct Model *model);
// Shows the columns and the order of the latency view, or of the main view.
void Model_show_latency(struct Model *model, bool latency);
// Sets the CPU times of the functions from the stacks of the whole run, which
// consist of `samples` samples in `s` seconds.
void Model_take_calls(struct Model *model, const struct Calls *calls, double s,
                      double samples);
// Shows only the rows that contain `text`, or all rows if `text` is "".
void Model_filter(struct Model *model, const char *text);
void Model_toggle_idle(struct Model *model); // Hides or shows idle functions.
// Shows only functions of the program's own code, or all functions.
void Model_set_own(struct Model *model, bool only);
// Returns true if functions of this file are shown. `file` may be NULL.
bool Model_shows_file(const struct Model *model, const char *file);

// Shows the data of one thread, or of all threads if `thread` is NULL. If the
// choice changes, the baseline is dropped, because its shares are those of the
// previous thread.
void Model_watch(struct Model *model, const struct Thread *thread);
// Returns the chosen thread in the newest snapshot. Returns NULL if all threads
// are shown, or if the snapshot does not list the thread.
const struct Thread *Model_thread(const struct Model *model);

// Returns the CPU share of the chosen thread, or of all threads.
double Model_share(const struct Model *model);
// Returns the share of the chosen thread that was spent in functions without a
// row. (A process lists only the hottest functions of each thread.) Returns NaN
// if every listed function of the thread has a row, or if all threads are
// shown.
double Model_unlisted(const struct Model *model);

const struct Row *Model_row(const struct Model *model, size_t index);
// Returns the function's row, even if it is not shown. Returns NULL if the
// snapshot does not list the function.
const struct Row *Model_row_of(const struct Model *model, uint64_t id);
// Returns true if the function is among the rows that are shown.
bool Model_shows(const struct Model *model, uint64_t id);
