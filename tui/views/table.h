// SPDX-License-Identifier: MIT
// The main table: which of its columns fit, and what a cell of a function says.
// Pure functions, any thread.
#ifndef OCULAR_TUI_VIEWS_TABLE_H
#define OCULAR_TUI_VIEWS_TABLE_H

#include "tui/screen/layout.h"
#include "tui/views/table_column.h"

#include <stdbool.h>

struct TableWish {
    bool sampled;       // there are shares to show
    bool bare;          // batch: no selection, no keys
    enum ColumnId sort; // it is there, however narrow the screen is
};

// Writes a function's cell, as `display` wants it.
void Table_write(struct TableText *out, enum ColumnId id, const struct Row *row,
                 const struct Display *display);
// Places the lines and the columns of the main screen; a column's id is an
// enum ColumnId.
void Table_layout(struct Layout *layout, int width, int height,
                  struct TableWish wish);

#endif
