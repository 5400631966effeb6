// SPDX-License-Identifier: MIT
// Copies a session's settings into its snapshots and its recording.
#pragma once

#include "tracer/session/session.h"

// Fills Ocular's version and the settings of the session into a snapshot,
// except the budget, which a viewer may change. Returns false if there is no
// memory. Any thread may call this function.
bool Settings_fill(struct Snapshot *snapshot, const struct Session *session);
// Gives the recording the settings and the present budget, unless it already
// has them. The caller holds the mutex `draining`, or is the thread that starts
// the session. If there is no memory, the next call tries again.
void Settings_record(struct Session *session);
