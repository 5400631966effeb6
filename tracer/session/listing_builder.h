// SPDX-License-Identifier: MIT
// Makes the listing of a function that a viewer gets, out of its detail and the
// text of its arguments. No state; the collector's thread.
#ifndef OCULAR_TRACER_SESSION_LISTING_BUILDER_H
#define OCULAR_TRACER_SESSION_LISTING_BUILDER_H

#include "ipc/listing.h"
#include "tracer/session/listing_detail.h"
#include "tracer/session/operand_text.h"

struct ListingBuilderSource {
    const struct Code *code;
    const struct ListingDetail *detail;
    const struct OperandText *text; // NULL: not known yet
    const struct Opcodes *opcodes;
    bool sampled; // there is a sampler
};

// The code's name and file are copied; opcodes and operand text are only
// pointed to, and must live as long as the listing. NULL when memory is out.
struct Listing *ListingBuilder_make(const struct ListingBuilderSource *source);

#endif
