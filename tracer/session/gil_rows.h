// SPDX-License-Identifier: MIT
// Fills the part of a snapshot that is about the GIL.
#ifndef OCULAR_TRACER_SESSION_GIL_ROWS_H
#define OCULAR_TRACER_SESSION_GIL_ROWS_H

#include "ipc/snapshot.h"
#include "tracer/sample/sampler.h"

// Fills the shares, and the stack of the longest hold. Returns false if memory
// is out. Only the thread that builds snapshots calls this function.
bool GilRows_fill(struct Snapshot *snapshot, struct Sampler *sampler,
                  struct Registry *registry);

#endif
