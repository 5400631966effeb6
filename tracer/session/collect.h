// SPDX-License-Identifier: MIT
// The collector's work: it drains rings into the timeline, builds snapshots and
// listings when somebody wants one, publishes them, and frees ended thread
// records, and retired code after a grace period. It never touches a Python
// object.
#ifndef OCULAR_TRACER_SESSION_COLLECT_H
#define OCULAR_TRACER_SESSION_COLLECT_H

#include "tracer/session/session.h"

// The session has a collector, which does not run yet. At threshold 0 a full
// ring is emptied by its own thread from now on, until Collect_release.
void Collect_init(struct Session *session);
// No hook runs any more.
void Collect_release(struct Session *session);
// Moves all events in the rings into the timeline, and the names of retired
// code to those that are kept for it. The collector's thread does it each time;
// any other may, but not with the interpreter's lock.
void Collect_drain(struct Session *session);
// The same, then builds a snapshot and publishes it. The collector's thread, or
// the one that has stopped it.
void Collect_build(struct Session *session);

#endif
