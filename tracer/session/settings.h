// SPDX-License-Identifier: MIT
// Copies a session's settings to its snapshots and to its recording.
#ifndef OCULAR_TRACER_SESSION_SETTINGS_H
#define OCULAR_TRACER_SESSION_SETTINGS_H

#include "tracer/session/session.h"

// Fills in Ocular's version and the settings of the trace, but not the budget,
// which a viewer may change. Any thread may call this function. Returns false
// if memory is out.
bool Settings_fill(struct Snapshot *snapshot, const struct Session *session);
// Gives the recording the settings and the present budget, unless it has them.
// The caller holds the mutex `draining`, or is the thread that starts the
// session. If memory is out, the next call tries again.
void Settings_record(struct Session *session);

#endif
