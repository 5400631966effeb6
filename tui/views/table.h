// SPDX-License-Identifier: MIT
// struct Table gives a list the columns and rows of the table of functions.
#pragma once

#include "tui/model/model.h"
#include "tui/screen/list.h"
#include "tui/views/table_column.h"

struct Table {
    // The model with the rows, borrowed, as is `display`.
    const struct Model *model;
    // NULL while a key is handled, because nothing is drawn then.
    const struct Display *display;
    struct ListColumn columns[COLUMN_COUNT];
    struct ListRows rows;
};

// Fills the table with those functions that the model shows. The index of a
// column is its enum ColumnId. After Table_fill the table must not move,
// because `rows` points to it.
void Table_fill(struct Table *table, const struct Model *model,
                const struct Display *display);
// Writes a cell in the row of a function, in the format of `display`.
void Table_write(struct ListCell *out, enum ColumnId id, const struct Row *row,
                 const struct Display *display);
