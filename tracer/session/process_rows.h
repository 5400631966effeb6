// SPDX-License-Identifier: MIT
// Fills in a snapshot's numbers about the process, its threads, tasks and event
// loops, the GIL, garbage collections, exceptions, the sampler, and Ocular's
// own cost. If there is no memory, Arena.failed of the snapshot is true, as
// after all functions that fill a snapshot.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/base/share.h"
#include "tracer/session/moment.h"

// Returns the data for a snapshot that is built now. Stores the time of the
// sampler's newest step in *sampled.
struct Moment ProcessRows_moment(struct Session *session,
                                 struct ShareTime *sampled);
void ProcessRows_fill(struct Snapshot *snapshot, const struct Moment *at);
