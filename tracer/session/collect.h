// SPDX-License-Identifier: MIT
// Does the work of the collector's thread, which moves the events from the
// rings into the timeline, builds and publishes snapshots, makes listings, and
// frees the records of ended threads. After a grace period of RCU, the
// collector's thread also frees retired code. The collector's thread never
// touches a Python object.
#pragma once

#include "tracer/session/session.h"

// Gives the session a collector, which does not run yet. At threshold 0, a
// thread empties its own full ring from now on, until Collect_release.
void Collect_init(struct Session *session);
// Collect_release frees what Collect_init has made. Collect_release may be
// called only when no hook runs any more.
void Collect_release(struct Session *session);
// Moves all events from the rings into the timeline, and keeps the names of
// retired code for the timeline. The collector's thread calls Collect_drain in
// each turn. Any thread that does not hold the GIL may call Collect_drain, too.
void Collect_drain(struct Session *session);
// Empties the rings as Collect_drain does, and then builds and publishes a
// snapshot. The collector's thread calls Collect_build, or the thread that has
// stopped the collector.
void Collect_build(struct Session *session);
