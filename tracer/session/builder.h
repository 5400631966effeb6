// SPDX-License-Identifier: MIT
// Builds a snapshot from the engine's counters. The collector's thread calls
// Builder_snapshot. After the collector has stopped, the thread that stops the
// session calls Builder_snapshot.
#pragma once

#include "ipc/snapshot.h"

struct Session;

// Returns a snapshot that the caller owns, or NULL if there is no memory.
struct Snapshot *Builder_snapshot(struct Session *session);
