// SPDX-License-Identifier: MIT
// Makes the rows of functions in the snapshots that are written to the
// recording while the program runs. A row has only the numbers that the events
// and samples in the recording do not contain: latencies, calls in flight, and
// how long the function kept other threads from the GIL.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/session/moment.h"

// Largest number of rows. Of a larger number of functions, those whose calls
// took longest, all calls together, have a row.
#define TOTAL_ROWS 100

// Adds the rows to the snapshot. No code may be freed meanwhile
// (Session.draining). Returns false if there is no memory.
bool TotalRows_fill(struct Snapshot *snapshot, const struct Moment *at);
