// SPDX-License-Identifier: MIT
// Fills in a snapshot's data about garbage collections.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/hook/garbage.h"

// Adds one row for each generation of the garbage collector, and the pauses
// until `now_s` as a fraction of one core's wall-clock time. `hz` is the number
// of ticks per second. Returns false if there is no memory. Only the thread
// that builds snapshots calls GarbageRows_fill.
bool GarbageRows_fill(struct Snapshot *snapshot, struct Garbage *garbage,
                      double now_s, double hz);
