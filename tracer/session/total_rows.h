// SPDX-License-Identifier: MIT
// Makes the rows of functions in the snapshots that are written to the
// recording while the program runs. A row contains only the latencies, the
// calls in flight (begun and not ended), and the time for which the function
// kept other threads from the GIL. All other numbers of a function can be
// computed from the events and samples in the recording.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/session/moment.h"

// Largest number of rows. If there are more functions, those functions have a
// row whose calls took the most time together.
#define TOTAL_ROWS 100

// Adds the rows to the snapshot. No code may be freed meanwhile
// (Session.draining).
void TotalRows_fill(struct Snapshot *snapshot, const struct Moment *at);
