// SPDX-License-Identifier: MIT
// Makes the rows of functions in the snapshots that are written to the
// recording while the program runs. A row contains only numbers that cannot be
// computed from the events and samples in the recording: latencies, calls in
// flight (begun and not ended), and how long the function kept other threads
// from the GIL.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/session/moment.h"

// Largest number of rows. If there are more functions, those functions have a
// row whose calls took the most time together.
#define TOTAL_ROWS 100

// Adds the rows to the snapshot. No code may be freed meanwhile
// (Session.draining). Returns false if there is no memory.
bool TotalRows_fill(struct Snapshot *snapshot, const struct Moment *at);
