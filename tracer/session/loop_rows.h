// SPDX-License-Identifier: MIT
// Fills the part of a snapshot that is about event loops.
#ifndef OCULAR_TRACER_SESSION_LOOP_ROWS_H
#define OCULAR_TRACER_SESSION_LOOP_ROWS_H

#include "ipc/snapshot.h"
#include "tracer/sample/event_loops.h"

// Adds a row for each loop and each stall of the log. `now_s` and
// `started_s`, the start of tracing, are of CLOCK_MONOTONIC. The snapshot must
// have the rows of threads. Returns false if memory is out. Only the thread
// that builds snapshots calls this function.
bool LoopRows_fill(struct Snapshot *snapshot, struct EventLoops *loops,
                   double now_s, double started_s);

#endif
