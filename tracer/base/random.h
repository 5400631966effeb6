// SPDX-License-Identifier: MIT
// Makes random numbers that vary the times of observations. Observations at
// equal distances could follow a period of the program. Each caller owns a
// state, which one thread uses. The numbers need not be secret, so a state may
// begin with any value.
#pragma once

#include <stdint.h>

// Returns a number below 2^24.
static inline uint32_t Random_next(uint32_t *state)
{
    // The constants of this generator are from Numerical Recipes.
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

// Returns a factor between 0.75 and 1.25.
static inline double Random_factor(uint32_t *state)
{
    return 0.75 + 0.5 * Random_next(state) / (1 << 24);
}
