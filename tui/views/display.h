// SPDX-License-Identifier: MIT
// struct Display contains the user's choices for the format of numbers. All
// views use these functions for list cells with numbers. The functions are
// pure, and any thread may call them.
#pragma once

#include "tui/model/window.h"
#include "tui/screen/list.h"
#include "tui/text/number.h"

#include <stdbool.h>

struct Display {
    bool ns;       // True if cycles are shown as time. This needs tsc_hz.
    bool baseline; // True if columns show the change since the baseline.
    // Ticks of the time stamp counter per second (NaN = not reported).
    double tsc_hz;
};

// Marks and styles of the states of functions, indexed by enum FunctionState.
extern const struct StateMark {
    const char *mark;
    enum Style style;
} STATE_MARKS[STATE_DARK + 1];

// Writes cycles either as a number or as a time.
const char *Display_cycles(char out[NUMBER_MAX], double cycles,
                           const struct Display *display);
// Writes the cost of one call, for example as "<53" if the call was too short
// to be measured.
const char *Display_cost(char out[NUMBER_MAX], double cycles,
                         const struct Display *display);
// Writes the mean cost of calls. Display_mean also writes costs below the limit
// of Display_cost, because a mean is more precise than the cost of a single
// call.
const char *Display_mean(char out[NUMBER_MAX], double cycles,
                         const struct Display *display);

// If a value is NaN, the functions below leave the cell blank.
void ListCell_number(struct ListCell *out, double value,
                     const char *(*format)(char *, double));
// Writes a number with a mark before it, such as `~` or `>=`. Zero is dim.
void ListCell_marked(struct ListCell *out, const char *mark, double value,
                     const char *(*format)(char *, double));
void ListCell_cycles(struct ListCell *out, double cycles,
                     const struct Display *display);
void ListCell_seconds(struct ListCell *out, double s);
// Writes a share that is based on the samples in the window.
void ListCell_share(struct ListCell *out, const struct Window *window,
                    double share);
// Writes a text, ":" and the number of a line, which can be null. Leaves the
// cell blank if the text is NULL or "".
void ListCell_place(struct ListCell *cell, enum Style style, const char *text,
                    uint64_t line);
