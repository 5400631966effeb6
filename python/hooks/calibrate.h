// SPDX-License-Identifier: MIT
// Measures the cost of one hook at start, with the real hooks on small
// programs. The engine subtracts the cost of the hooks from every measured
// time. The thread that starts a session calls Calibration_run with the GIL
// held.
#pragma once

#include "python/hooks/state.h"

// Stores the costs in engine.traces.cost, in ticks, and call_ticks. Before the
// call the tools must be open, and nothing else may be traced. The call takes
// about 1.5 ms. Returns 0, or -1 with an exception. Also returns -1 in a child
// that was forked during the call.
int Calibration_run(struct State *state);
