// SPDX-License-Identifier: MIT
// Fills in the program's hottest lines in a snapshot, for some seconds after a
// viewer or the program has asked for them. The thread that builds a snapshot
// calls LineRows_fill.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/code/code.h"
#include "tracer/session/moment.h"

#include <stdatomic.h>

struct LineRows {
    // CLOCK_MONOTONIC in ns at the last request for lines, or 0.
    _Atomic uint64_t asked_ns;
};

// Asks for the hottest lines. Any thread may call LineRows_ask.
void LineRows_ask(struct LineRows *rows);
// Fills in the lines of the functions that take the most time, the line with
// the largest share first.
void LineRows_fill(const struct LineRows *rows, struct Snapshot *snapshot,
                   const struct Moment *at);
