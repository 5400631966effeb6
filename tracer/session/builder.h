// SPDX-License-Identifier: MIT
// Builds a snapshot from the counters. The collector's thread calls this code.
// After the collector has ended, the stopping thread calls this code.
#ifndef OCULAR_TRACER_SESSION_BUILDER_H
#define OCULAR_TRACER_SESSION_BUILDER_H

#include "ipc/snapshot.h"

struct Session;

// Returns a snapshot that the caller owns, or NULL if memory is out.
struct Snapshot *Builder_snapshot(struct Session *session);

#endif
