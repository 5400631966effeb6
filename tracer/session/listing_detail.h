// SPDX-License-Identifier: MIT
// One function, instruction by instruction: its opcode, the specialised one,
// its executions and its cost. The stop report and the listings that viewers
// get are made of it. Built with the interpreter's lock held, or in a read
// section and from a copy of the code's history.
#ifndef OCULAR_TRACER_SESSION_LISTING_DETAIL_H
#define OCULAR_TRACER_SESSION_LISTING_DETAIL_H

#include "tracer/code/code.h"

struct ListingDetailRow {
    uint32_t offset;       // bytes
    uint32_t line;         // 0 = none
    uint8_t opcode;        // base
    uint8_t oparg;         // the low byte; EXTENDED_ARG rows are folded away
    uint32_t argument;     // whole
    uint8_t live;          // the last known opcode: specialised, or base
    bool specialized_once; // it has been seen specialised, now or before
    bool jitted;           // an executor is entered here
    bool site;             // instrumentable and not redundant
    bool dark;
    uint64_t hits; // never more than its executions; 0 and not exact: unknown
    bool exact;    // else hits is a floor
    uint64_t samples;   // samples that found it running here, or in code
                        // without a record that it had called
    uint64_t c_samples; // of these, in C
    double cycles; // per execution, the block's spread evenly; in precise mode
                   // its own, of the generic opcode; NaN: unknown
};

struct ListingDetail {
    uint32_t id;
    struct ListingDetailRow *rows;
    size_t row_count;
    // Precise mode: hits and cycles are each instruction's own. CPython runs an
    // instruction whose INSTRUCTION event is armed in its generic form, never
    // specialised: so the cycles are `opcode`'s, whatever `live` says.
    bool precise;
};

// 0 or -ENOMEM
int ListingDetail_init(struct ListingDetail *detail, const struct Code *code,
                       const struct Specialisation *history,
                       const struct Opcodes *opcodes);
void ListingDetail_release(struct ListingDetail *detail);

#endif
