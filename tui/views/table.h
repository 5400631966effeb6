// SPDX-License-Identifier: MIT
// The main table as columns and rows of a list, with one row for each function.
// One thread.
#ifndef OCULAR_TUI_VIEWS_TABLE_H
#define OCULAR_TUI_VIEWS_TABLE_H

#include "tui/model/model.h"
#include "tui/screen/list.h"
#include "tui/views/table_column.h"

struct Table {
    // the model of the rows; borrowed, like `display`
    const struct Model *model;
    // NULL: a key is handled and nothing is drawn
    const struct Display *display;
    struct ListColumn columns[COLUMN_COUNT];
    struct ListRows rows;
};

// Fills the table with the functions that the model shows. Columns are numbered
// by enum ColumnId. The table must not be moved afterwards, because `rows`
// points to it.
void Table_fill(struct Table *table, const struct Model *model,
                const struct Display *display);
// Writes a cell of a function's row in the format of `display`.
void Table_write(struct ListCell *out, enum ColumnId id, const struct Row *row,
                 const struct Display *display);

#endif
