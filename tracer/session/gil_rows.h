// SPDX-License-Identifier: MIT
// Fills in a snapshot's numbers about the GIL.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/sample/sampler.h"

// Fills in the shares of time with the GIL, and the stack of the longest hold
// of the GIL. Only the thread that builds snapshots calls GilRows_fill.
void GilRows_fill(struct Snapshot *snapshot, struct Sampler *sampler,
                  struct Registry *registry);
