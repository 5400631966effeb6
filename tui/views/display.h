// SPDX-License-Identifier: MIT
// The user's choices about how all views write numbers, and numbers in cells of
// lists, which all views write the same way. Pure functions, any thread.
#ifndef OCULAR_TUI_VIEWS_DISPLAY_H
#define OCULAR_TUI_VIEWS_DISPLAY_H

#include "tui/model/window.h"
#include "tui/screen/list.h"
#include "tui/text/number.h"

#include <stdbool.h>

struct Display {
    bool ns;       // cycles are written as time, if tsc_hz is known
    bool baseline; // columns show the change since the baseline
    double tsc_hz; // cycles a second; NaN: the process does not report it
};

// How a function's state looks, by enum FunctionState.
extern const struct StateMark {
    const char *mark;
    enum Style style;
} STATE_MARKS[STATE_DARK + 1];

// Cycles, or the time that they took.
const char *Display_cycles(char out[NUMBER_MAX], double cycles,
                           const struct Display *display);
// The cost of one call: "<53" if it is too short to be measured.
const char *Display_cost(char out[NUMBER_MAX], double cycles,
                         const struct Display *display);
// The mean cost of calls, which is more precise than one call's cost.
const char *Display_mean(char out[NUMBER_MAX], double cycles,
                         const struct Display *display);

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
