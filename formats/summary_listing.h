// SPDX-License-Identifier: MIT
// Lists the code of one function for a stretch of a recording. The listing has
// the instructions that samples found running, and says whether each
// instruction was specialised.
#pragma once

#include "formats/stretch_sums.h"
#include "ipc/listing.h"

// Returns a listing, which the caller frees. Returns NULL if no sample found an
// instruction of the function, or if memory is out.
struct Listing *SummaryListing_make(const struct StretchSums *sums,
                                    uint64_t id);
