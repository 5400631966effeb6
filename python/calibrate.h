// SPDX-License-Identifier: MIT
// What one hook costs: measured at start with the real hooks on small programs,
// so that it can be taken off every figure.
#ifndef OCULAR_PYTHON_CALIBRATE_H
#define OCULAR_PYTHON_CALIBRATE_H

#include "python/state.h"

// Fills engine.cost, in ticks. The tools are open, nothing else is traced yet.
// Takes about 2 ms. 0, or -1 with an exception.
int Calibration_start(struct State *state, bool timeline);

#endif
