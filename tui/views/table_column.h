// SPDX-License-Identifier: MIT
// The columns of the main table as they look, one row of a table each: title,
// width, which column drops first, how a function's cell is written: the
// numbers since the reset, with the marks of the help. model/columns.def says
// what the columns are; the change since the baseline is table_change.c's. Pure
// functions, any thread.
#ifndef OCULAR_TUI_VIEWS_TABLE_COLUMN_H
#define OCULAR_TUI_VIEWS_TABLE_COLUMN_H

#include "tui/model/column.h"
#include "tui/views/display.h"

#include <stdbool.h>

#define TREND_CELLS 8 // cells of the curve in TREND

// The input for one cell.
struct TableCell {
    const struct Row *row;
    double value; // the column's key
    const struct Display *display;
};

struct TableColumn {
    const char *title;      // at most `width` cells
    const char *time_title; // in its place while cycles show as time, or NULL
    const char *about;      // for the help
    int width;              // cells; of FUNCTION and FILE: the least
    int importance;         // 0 = never drops; the largest drops first
    int room;               // cells that it must leave to FUNCTION (and FILE)
    bool left;              // aligned left
    enum Cut cut;           // which end of a long text goes
    void (*format)(struct ListCell *out, const struct TableCell *cell);
};

extern const struct TableColumn TABLE[COLUMN_COUNT];

#endif
