// SPDX-License-Identifier: MIT
// Builds a snapshot from the engine's counters. The caller holds the mutex
// Session.draining. The collector's thread calls Builder_snapshot. After the
// collector has stopped, the thread that stops the session calls
// Builder_snapshot.
#pragma once

#include "ipc/snapshot.h"

struct Session;

// Returns a snapshot that the caller owns, or NULL if there is no memory.
struct Snapshot *Builder_snapshot(struct Session *session);
// Returns a snapshot for the recording, with the numbers of the whole process
// and the functions with the most important latencies (total_rows.h). The
// caller owns the snapshot. Returns NULL if there is no memory.
struct Snapshot *Builder_totals(struct Session *session);
