// SPDX-License-Identifier: MIT
// What one hook costs here and now: measured at start with the real hooks on a
// probe, so that it can be taken off every figure.
#ifndef OCULAR_PYTHON_CALIBRATE_H
#define OCULAR_PYTHON_CALIBRATE_H

#include "python/state.h"

// Fills engine.cost, in ticks. The tools are open, nothing else is traced yet.
// Takes about 3 ms. 0, or -1 with an exception.
int Calibrate_hooks(struct State *state, bool timeline);

#endif
