// SPDX-License-Identifier: MIT
// The user's choices about how all views write numbers, and cycles written by
// them. Pure functions, any thread.
#ifndef OCULAR_TUI_VIEWS_DISPLAY_H
#define OCULAR_TUI_VIEWS_DISPLAY_H

#include "tui/text/number.h"

#include <stdbool.h>

struct Display {
    bool ns;       // cycles are written as time, if tsc_hz is known
    bool baseline; // columns show the change since the baseline
    double tsc_hz; // cycles a second; NaN: the process does not report it
};

// Cycles, or the time that they took.
const char *Display_cycles(char out[NUMBER_MAX], double cycles,
                           const struct Display *display);
// What one call took: "<53" where it is too short to be told from nothing.
const char *Display_cost(char out[NUMBER_MAX], double cycles,
                         const struct Display *display);
// What calls took in the mean, which is more precise than one call's cost.
const char *Display_mean(char out[NUMBER_MAX], double cycles,
                         const struct Display *display);

#endif
