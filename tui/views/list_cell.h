// SPDX-License-Identifier: MIT
// Numbers written into cells of lists, the same way in all views. One thread.
#ifndef OCULAR_TUI_VIEWS_LIST_TEXT_H
#define OCULAR_TUI_VIEWS_LIST_TEXT_H

#include "tui/model/window.h"
#include "tui/screen/list.h"
#include "tui/views/display.h"

// Each leaves the cell blank if the value is null (NaN).
void ListCell_number(struct ListCell *out, double value,
                     const char *(*format)(char *, double));
void ListCell_cycles(struct ListCell *out, double cycles,
                     const struct Display *display);
void ListCell_cost(struct ListCell *out, double cycles,
                   const struct Display *display);
// A share that rests on the samples of the window.
void ListCell_share(struct ListCell *out, const struct Window *window,
                    double share);
// A function's file and line.
void ListCell_file(struct ListCell *cell, const struct Function *function);

#endif
