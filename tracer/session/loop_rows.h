// SPDX-License-Identifier: MIT
// Fills in the event loops and the stalls (steps that took too long) in a
// snapshot.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/sample/event_loops.h"

// Adds a row to the snapshot for each event loop and for each stall in the log.
// `now_s` is the time of the snapshot and `started_s` that of the start of
// tracing, in seconds of CLOCK_MONOTONIC. The snapshot must already have the
// rows of threads. Only the thread that builds snapshots calls LoopRows_fill.
void LoopRows_fill(struct Snapshot *snapshot, struct EventLoops *loops,
                   double now_s, double started_s);
