// SPDX-License-Identifier: MIT
// Measures the cost of one hook at start, with the real hooks on small
// programs. The engine subtracts this cost from every measured time.
#ifndef OCULAR_PYTHON_HOOKS_CALIBRATE_H
#define OCULAR_PYTHON_HOOKS_CALIBRATE_H

#include "python/hooks/state.h"

// Stores the costs in engine.traces.cost, in ticks. The tools must be open and
// nothing else traced yet. Takes about 1.5 ms. Returns 0, or -1 with an
// exception, also in a child that was forked meanwhile.
int Calibration_run(struct State *state);

#endif
