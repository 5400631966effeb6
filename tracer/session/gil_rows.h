// SPDX-License-Identifier: MIT
// Fills in a snapshot's numbers about the GIL.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/sample/sampler.h"

// Fills in the shares of time with the GIL, and the stack of the longest hold
// of the GIL. Returns false if there is no memory. Only the thread that builds
// snapshots calls GilRows_fill.
bool GilRows_fill(struct Snapshot *snapshot, struct Sampler *sampler,
                  struct Registry *registry);
