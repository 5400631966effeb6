// SPDX-License-Identifier: MIT
// Finds the hottest lines of a stretch of a recorded run. Only one thread at a
// time may use the arguments of this function.
#pragma once

#include "formats/stretch_sums.h"
#include "ipc/snapshot.h"

// Stores in `out` the lines with the largest shares of the samples in a stretch
// of `length_ns` ns. `final` is NULL or the final snapshot, from which the
// numbers of hits of lines are taken. If memory is out, `out` gets no lines.
void SummaryLines_fill(struct Snapshot *out, const struct StretchSums *sums,
                       const struct Snapshot *final, double length_ns);
