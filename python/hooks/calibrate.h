// SPDX-License-Identifier: MIT
// The cost of one hook: measured at start with the real hooks on small
// programs, so that it can be taken off every figure.
#ifndef OCULAR_PYTHON_HOOKS_CALIBRATE_H
#define OCULAR_PYTHON_HOOKS_CALIBRATE_H

#include "python/hooks/state.h"

// Fills engine.traces.cost, in ticks. The tools are open, nothing else is
// traced yet. Takes about 1.5 ms. 0, or -1 with an exception, also in a child
// that was forked meanwhile.
int Calibration_run(struct State *state);

#endif
