// SPDX-License-Identifier: MIT
// Copies a session's settings into its snapshots.
#pragma once

#include "tracer/session/session.h"

// Returns the bits of enum Chosen for the names of events in `text`, which are
// separated by commas. Unknown names are ignored.
unsigned Settings_events(const char *text);
// Fills in Ocular's version and the settings of the session, except the budget,
// which a viewer may change. Any thread may call Settings_fill.
void Settings_fill(struct Snapshot *snapshot, const struct Session *session);
