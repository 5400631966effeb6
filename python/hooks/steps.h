// SPDX-License-Identifier: MIT
// What an INSTRUCTION event's hook costs here and now, for precise mode. Part
// of the calibration at start; interpreter's lock held.
#ifndef OCULAR_PYTHON_HOOKS_STEPS_H
#define OCULAR_PYTHON_HOOKS_STEPS_H

#include "python/hooks/state.h"

// Fills those two of `cost` (ticks), while no cost of any kind is taken off
// yet. Takes about 8 ms. 0, or -1 with or without an exception.
int Steps_calibrate(struct State *state, double cost[HOOK_KINDS]);

#endif
