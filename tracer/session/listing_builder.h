// SPDX-License-Identifier: MIT
// Makes the listing of a function for viewers, from its detail and the text of
// its operands. The collector's thread calls this code, which has no state.
#ifndef OCULAR_TRACER_SESSION_LISTING_BUILDER_H
#define OCULAR_TRACER_SESSION_LISTING_BUILDER_H

#include "ipc/listing.h"
#include "tracer/session/listing_detail.h"
#include "tracer/session/operand_text.h"

struct ListingBuilderSource {
    const struct Code *code;
    const struct ListingDetail *detail;
    const struct OperandText *text; // NULL if the text was not read yet.
    const struct Opcodes *opcodes;
    bool sampled; // True if there is a sampler.
};

// Returns the listing, or NULL if there is no memory. The listing has copies of
// the function's name and file. It points to opcodes and operand text, which
// must live as long as the listing.
struct Listing *ListingBuilder_make(const struct ListingBuilderSource *source);

#endif
