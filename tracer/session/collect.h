// SPDX-License-Identifier: MIT
// Does the work of the collector's thread. This code drains the rings into the
// timeline, builds and publishes snapshots, makes listings, and frees the
// records of ended threads. After a grace period it also frees retired code.
// The collector never touches a Python object.
#ifndef OCULAR_TRACER_SESSION_COLLECT_H
#define OCULAR_TRACER_SESSION_COLLECT_H

#include "tracer/session/session.h"

// Gives the session a collector, which does not run yet. At threshold 0 a
// thread empties its own full ring from now on, until Collect_release.
void Collect_init(struct Session *session);
// Collect_release is called when no hook runs any more.
void Collect_release(struct Session *session);
// Moves all events from the rings into the timeline, and keeps the names of
// retired code for the timeline. The collector's thread calls this in each
// turn; any other thread may call it, too, but not with the GIL held.
void Collect_drain(struct Session *session);
// Drains the rings as Collect_drain does. Then builds and publishes a snapshot.
// The collector's thread calls this, or the thread that has stopped the
// collector.
void Collect_build(struct Session *session);

#endif
