// SPDX-License-Identifier: MIT
// Fills in the rows of functions whose code objects were freed. The thread that
// builds a snapshot calls RetiredRows_fill.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/session/moment.h"

// Adds rows for the retired functions to a snapshot, those with the highest
// cost first. The row "(others)" comes last.
void RetiredRows_fill(struct Snapshot *snapshot, const struct Moment *at);
