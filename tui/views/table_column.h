// SPDX-License-Identifier: MIT
// TABLE describes the look of each column of the table of functions. An entry
// consists of the title, the width, the importance, and the function that
// writes a cell. Cells show numbers since the reset, with marks that the help
// explains. The columns are defined in model/columns.def. Changes since the
// baseline are written by table.c. The functions are pure, and any thread may
// call them.
#pragma once

#include "tui/model/column.h"
#include "tui/views/display.h"

#include <stdbool.h>

#define TREND_CELLS 8 // Cells of the curve in the column TREND.

// struct TableCell is the input for one cell.
struct TableCell {
    const struct Row *row;
    double value; // The value by which the column sorts the row.
    const struct Display *display;
};

struct TableColumn {
    const char *title; // Title, which has at most `width` cells.
    // Title while cycles are shown as time (NULL = `title`).
    const char *time_title;
    const char *about; // Text in the help.
    // Width in cells. The columns FUNCTION and FILE have at least this width.
    int width;
    // Columns with a larger importance are left out first (0 = never).
    int importance;
    // The column is left out if FUNCTION and FILE would otherwise have fewer
    // than `room` cells.
    int room;
    bool left; // Aligned left.
    // True if only one blank cell is before the column on the main screen.
    bool near;
    enum Cut cut; // The end at which a long text is cut.
    void (*format)(struct ListCell *out, const struct TableCell *cell);
};

extern const struct TableColumn TABLE[COLUMN_COUNT];
