// SPDX-License-Identifier: MIT
// Fills the event loops and the stalls in a snapshot.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/sample/event_loops.h"

// Adds a row to the snapshot for each event loop and for each stall in the log.
// `now_s` and `started_s`, the start of tracing, are CLOCK_MONOTONIC in
// seconds. The snapshot must already have the rows of threads. Returns false if
// there is no memory. Only the thread that builds snapshots calls this
// function.
bool LoopRows_fill(struct Snapshot *snapshot, struct EventLoops *loops,
                   double now_s, double started_s);
