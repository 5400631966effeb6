// SPDX-License-Identifier: MIT
// Finds the hottest lines of a stretch of a recorded run. One thread at a time
// uses the arguments.
#pragma once

#include "formats/stretch_sums.h"
#include "ipc/snapshot.h"

// Fills the lines with the largest shares into `out`, from the samples of the
// stretch, which is `length_ns` long. `final` is NULL, or the final snapshot,
// which has the hits of lines. If there is no memory, there are no lines.
void SummaryLines_fill(struct Snapshot *out, const struct StretchSums *sums,
                       const struct Snapshot *final, double length_ns);
