// SPDX-License-Identifier: MIT
// The main table as columns and rows of a list: one row a function. One thread.
#ifndef OCULAR_TUI_VIEWS_TABLE_H
#define OCULAR_TUI_VIEWS_TABLE_H

#include "tui/model/model.h"
#include "tui/screen/list.h"
#include "tui/views/table_column.h"

struct Table {
    const struct Model *model;     // borrowed, as the next
    const struct Display *display; // NULL: only keys are pressed
    struct ListColumn columns[COLUMN_COUNT];
    struct ListRows rows;
};

// Fills the table with the functions that the model shows. A column is an enum
// ColumnId. The table must stay where it is.
void Table_fill(struct Table *table, const struct Model *model,
                const struct Display *display);
// Writes a function's cell, as `display` wants it.
void Table_write(struct ListCell *out, enum ColumnId id, const struct Row *row,
                 const struct Display *display);

#endif
