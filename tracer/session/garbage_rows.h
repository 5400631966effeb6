// SPDX-License-Identifier: MIT
// Fills the part of a snapshot that is about the garbage collector.
#ifndef OCULAR_TRACER_SESSION_GARBAGE_ROWS_H
#define OCULAR_TRACER_SESSION_GARBAGE_ROWS_H

#include "ipc/snapshot.h"
#include "tracer/hook/garbage.h"

// Adds one row for each generation, and the share at the time `now_s`. `hz` is
// ticks a second. Returns false if memory is out. Only the thread that builds
// snapshots calls this function.
bool GarbageRows_fill(struct Snapshot *snapshot, struct Garbage *garbage,
                      double now_s, double hz);

#endif
