// SPDX-License-Identifier: MIT
// What one cell of the main table says, and in which style. Written by
// table_column.c and table_change.c, drawn by the main view. One thread.
#ifndef OCULAR_TUI_VIEWS_TABLE_TEXT_H
#define OCULAR_TUI_VIEWS_TABLE_TEXT_H

#include "tui/model/window.h"
#include "tui/screen/canvas.h"
#include "tui/views/display.h"

#define TABLE_TEXT 1024

struct TableText {
    char text[TABLE_TEXT]; // "": the cell is blank
    uint8_t style;         // enum Style
};

void TableText_put(struct TableText *out, enum Style style, const char *text);
// The others leave the cell blank where the value is null (NaN).
void TableText_number(struct TableText *out, double value,
                      const char *(*format)(char *, double));
void TableText_cycles(struct TableText *out, double cycles,
                      const struct Display *display);
void TableText_cost(struct TableText *out, double cycles,
                    const struct Display *display);
// A share that rests on the samples of the window.
void TableText_share(struct TableText *out, const struct Window *window,
                     double share);

#endif
