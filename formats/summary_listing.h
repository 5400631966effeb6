// SPDX-License-Identifier: MIT
// One function's code in a stretch of a recording: the instructions that
// samples found, and whether they were specialised. Pure.
#ifndef OCULAR_FORMATS_SUMMARY_LISTING_H
#define OCULAR_FORMATS_SUMMARY_LISTING_H

#include "formats/stretch_sums.h"
#include "ipc/listing.h"

// The caller's. NULL: nothing is known, or memory is out.
struct Listing *SummaryListing_make(const struct StretchSums *sums,
                                    uint64_t id);

#endif
