// SPDX-License-Identifier: MIT
// Fills the garbage collections in a snapshot.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/hook/garbage.h"

// Adds one row for each generation of the garbage collector, and the part of
// one core's wall time that pauses took until `now_s`. `hz` is ticks per
// second. Returns false if there is no memory. Only the thread that builds
// snapshots calls this function.
bool GarbageRows_fill(struct Snapshot *snapshot, struct Garbage *garbage,
                      double now_s, double hz);
