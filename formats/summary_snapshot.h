// SPDX-License-Identifier: MIT
// Makes the snapshot of a stretch of a recording.
#pragma once

#include "formats/stretch_sums.h"
#include "ipc/snapshot.h"

// Returns a snapshot, which the caller frees. Returns NULL if memory is out.
struct Snapshot *SummarySnapshot_make(const struct StretchSums *sums);
