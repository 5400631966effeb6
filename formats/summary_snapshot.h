// SPDX-License-Identifier: MIT
// The snapshot of a stretch of a recording. Pure.
#ifndef OCULAR_FORMATS_SUMMARY_SNAPSHOT_H
#define OCULAR_FORMATS_SUMMARY_SNAPSHOT_H

#include "formats/stretch_sums.h"
#include "ipc/snapshot.h"

// The caller's. NULL: memory is out.
struct Snapshot *SummarySnapshot_make(const struct StretchSums *sums);

#endif
