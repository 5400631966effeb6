// SPDX-License-Identifier: MIT
// What the viewer knows of the traced process: the newest snapshot, a row for
// each function with its history, and the user's choices about them: sorting,
// filter, the selected function. It draws nothing and speaks to nobody. One
// thread.
#ifndef OCULAR_TUI_MODEL_H
#define OCULAR_TUI_MODEL_H

#include "tui/column.h"
#include "tui/row.h"
#include "tui/tally.h"

#include <stdbool.h>

#define MODEL_TEXT 256

struct Model {
    struct Snapshot *snapshot; // owned; NULL before the first
    struct Row *rows;          // in no order, one for each id
    size_t row_count;
    size_t row_capacity;
    uint32_t *slots; // open hash of row indexes + 1, by id
    size_t slot_count;
    uint32_t *order; // indexes of the rows that pass the filter, sorted
    size_t shown;
    bool sampled; // some function has a share
    enum ColumnId sort;
    bool invert;
    char filter[MODEL_TEXT];
    char search[MODEL_TEXT];
    size_t selected; // in order
    size_t top;      // the first row on the screen
    uint64_t selected_id;
    bool follows; // the selection stays with selected_id, else at the top
    struct Tally tally;
    float trend[TREND_LENGTH]; // of tally.share
    bool reset;                // counts are since base_*
    double base_uptime;
    uint64_t base_events;
    uint64_t base_lost;
};

void Model_init(struct Model *model);
void Model_release(struct Model *model);
// Takes over the snapshot. 0, or -ENOMEM: the snapshot is freed and the model
// is as it was.
int Model_push(struct Model *model, struct Snapshot *snapshot);
// Counts calls, cycles and events from now on.
void Model_reset(struct Model *model);

// The column that is sorted by: the wish, or SELF where shares are missing.
enum ColumnId Model_sort_column(const struct Model *model);
void Model_sort_by(struct Model *model, enum ColumnId column);
void Model_invert(struct Model *model);
void Model_filter(struct Model *model, const char *text); // "" shows all

const struct Row *Model_row(const struct Model *model, size_t index);
const struct Row *Model_selected(const struct Model *model); // or NULL
void Model_move(struct Model *model, long rows);
void Model_home(struct Model *model); // and stay at the top
void Model_end(struct Model *model);
// Selects the next (step 1) or previous (-1) match of model->search, going
// round; from the selection itself when `here`. False if there is none.
bool Model_find(struct Model *model, int step, bool here);
// Moves `top` so that the selection is among `height` rows.
void Model_scroll(struct Model *model, int height);

#endif
