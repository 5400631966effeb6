// SPDX-License-Identifier: MIT
// Fills the latencies and the calls in flight in a function's row. The thread
// that builds a snapshot calls these functions.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/code/code.h"
#include "tracer/session/moment.h"

void LatencyRow_fill(struct Function *f, struct Code *code,
                     const struct Moment *at);
// Returns true if the function's row changes without a hit, because the oldest
// call in flight grows older.
bool LatencyRow_changes(const struct Code *code);
