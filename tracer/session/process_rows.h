// SPDX-License-Identifier: MIT
// Fills those numbers of a snapshot that are not about single functions: the
// process, its threads, tasks and event loops, the GIL, garbage collections,
// exceptions, the sampler, and Ocular's own cost. The builder calls these
// functions with Session.draining held.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/base/share.h"
#include "tracer/session/moment.h"

// Returns the present moment. The time of the sampler's newest step is in
// *sampled.
struct Moment ProcessRows_moment(struct Session *session,
                                 struct ShareTime *sampled);
// Returns false if there is no memory.
bool ProcessRows_fill(struct Snapshot *snapshot, const struct Moment *at);
