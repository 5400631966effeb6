// SPDX-License-Identifier: MIT
// Makes the listing of a function for viewers, from a ListingDetail and the
// text of the operands. The collector's thread calls ListingBuilder_make, which
// keeps no state.
#pragma once

#include "ipc/listing.h"
#include "tracer/session/listing_detail.h"
#include "tracer/session/operand_text.h"

struct ListingBuilderSource {
    const struct Code *code;
    const struct ListingDetail *detail;
    // Text of the operands, or NULL if it was not read yet.
    const struct OperandText *text;
    const struct Opcodes *opcodes;
    // True if there is a sampler, and instructions therefore have samples.
    bool sampled;
    double share;   // The result of LineHits_share, or 0 if it is not known.
    uint64_t ticks; // Time of the listing in ticks.
    double hz;      // Ticks per second.
};

// Returns the listing, or NULL if there is no memory. The listing has copies of
// the function's name and file. The listing points to opcodes and operand text,
// which must live as long as the listing.
struct Listing *ListingBuilder_make(const struct ListingBuilderSource *source);
