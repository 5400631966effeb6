// SPDX-License-Identifier: MIT
// The columns of the main table as they look, one row of a table each: title,
// width, which column drops first, how it writes a cell. model/column.h says
// what they are. Pure functions, any thread.
#ifndef OCULAR_TUI_VIEWS_TABLE_H
#define OCULAR_TUI_VIEWS_TABLE_H

#include "tui/model/column.h"
#include "tui/screen/layout.h"
#include "tui/views/table_text.h"

#include <stdbool.h>

struct TableColumn {
    const char *title;      // at most `width` cells
    const char *time_title; // in its place while cycles show as time, or NULL
    const char *about;      // for the help
    int width;              // cells; of FUNCTION and FILE: the least
    int importance;         // 0 = never drops; the largest drops first
    int room;               // cells that it must leave to FUNCTION (and FILE)
    bool left;              // aligned left
    enum Cut cut;           // which end of a long text goes
    void (*format)(struct TableText *out, const struct Row *row,
                   const struct Display *display);
};

extern const struct TableColumn TABLE[COLUMN_COUNT];

struct TableWish {
    bool sampled; // there are shares to show
    bool bare;    // batch: no selection, no keys
};

// Writes a function's cell, as `display` wants it.
void Table_write(struct TableText *out, enum ColumnId id, const struct Row *row,
                 const struct Display *display);
// Places the lines and the columns of the main screen; a column's id is an
// enum ColumnId.
void Table_layout(struct Layout *layout, int width, int height,
                  struct TableWish wish);

#endif
