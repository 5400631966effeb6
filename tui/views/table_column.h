// SPDX-License-Identifier: MIT
// TABLE says how the columns of the table of functions look. An entry has the
// title, the width, the importance, and the function that formats a cell. Cells
// show the numbers since the reset, with the marks that the help explains.
// model/columns.def defines the columns. table.c formats the changes since the
// baseline. The functions are pure, and any thread may call them.
#pragma once

#include "tui/model/column.h"
#include "tui/views/display.h"

#include <stdbool.h>

#define TREND_CELLS 8 // cells of the curve in the column TREND

// struct TableCell is the input for one cell.
struct TableCell {
    const struct Row *row;
    double value; // the value by which the column sorts
    const struct Display *display;
};

struct TableColumn {
    const char *title; // Title of at most `width` cells.
    // Title while cycles are shown as time (NULL = `title`).
    const char *time_title;
    const char *about; // Text in the help.
    int width; // Width in cells, or the least width of FUNCTION and FILE.
    // Columns with a larger number are left out first (0 = never).
    int importance;
    int room;  // Least cells for FUNCTION and FILE, or the column is left out.
    bool left; // Aligned left.
    bool near; // On the main screen, one blank cell is before the column.
    enum Cut cut; // The end at which a long text is cut.
    void (*format)(struct ListCell *out, const struct TableCell *cell);
};

extern const struct TableColumn TABLE[COLUMN_COUNT];
