// SPDX-License-Identifier: MIT
// Makes the listing of a function that a viewer gets, out of its detail and
// what its arguments are called. No state; the collector's thread.
#ifndef OCULAR_TRACER_SESSION_LISTER_H
#define OCULAR_TRACER_SESSION_LISTER_H

#include "ipc/listing.h"
#include "tracer/session/detail.h"
#include "tracer/session/words.h"

struct ListerSource {
    const struct Code *code;
    const struct Detail *detail;
    const struct Words *words; // NULL: not known yet
    const struct Opcodes *opcodes;
    bool sampled; // there is a sampler
};

// The code's name and file are copied; opcodes and words are only pointed to,
// and must live as long as the listing. NULL when memory is out.
struct Listing *Lister_make(const struct ListerSource *source);

#endif
