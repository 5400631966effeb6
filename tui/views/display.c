// SPDX-License-Identifier: MIT
// See display.h.
#include "tui/views/display.h"

#include <math.h>
#include <stdio.h>

// Ocular subtracts what a call's hooks cost, and knows that cost to so many ns:
// a shorter call may measure as anything from 0 to this.
#define LEAST_NS 20.0

const char *Display_cycles(char out[NUMBER_MAX], double cycles,
                           const struct Display *display)
{
    if (display->ns && display->tsc_hz > 0)
        return Number_ns(out, cycles / display->tsc_hz * 1e9);
    return Number_count(out, cycles);
}

const char *Display_cost(char out[NUMBER_MAX], double cycles,
                         const struct Display *display)
{
    double least = ceil(LEAST_NS * display->tsc_hz / 1e9);
    if (!(display->tsc_hz > 0) || !(cycles < least))
        return Display_cycles(out, cycles, display);
    snprintf(out, NUMBER_MAX, display->ns ? "<%.0fns" : "<%.0f",
             display->ns ? LEAST_NS : least);
    return out;
}

const char *Display_mean(char out[NUMBER_MAX], double cycles,
                         const struct Display *display)
{
    return cycles < 1 ? Display_cost(out, cycles, display)
                      : Display_cycles(out, cycles, display);
}
