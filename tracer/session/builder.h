// SPDX-License-Identifier: MIT
// Builds a snapshot out of the counters. The collector's thread, or the
// stopping thread once the collector has ended.
#ifndef OCULAR_TRACER_SESSION_BUILDER_H
#define OCULAR_TRACER_SESSION_BUILDER_H

#include "ipc/snapshot.h"

struct Session;

// NULL when memory is out. The caller owns it.
struct Snapshot *Builder_snapshot(struct Session *session);

#endif
