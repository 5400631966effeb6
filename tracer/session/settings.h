// SPDX-License-Identifier: MIT
// Copies a session's settings into its snapshots.
#pragma once

#include "tracer/session/session.h"

// Returns the bits of enum Chosen for the names in `text`, which has commas
// between them. Ignores names that it does not know.
unsigned Settings_events(const char *text);
// Fills Ocular's version and the settings of the session into a snapshot,
// except the budget, which a viewer may change. Returns false if there is no
// memory. Any thread may call this function.
bool Settings_fill(struct Snapshot *snapshot, const struct Session *session);
