// SPDX-License-Identifier: MIT
// A function instruction by instruction: its opcode and specialised form, its
// executions and its cost. The stop report and the listings of viewers are made
// from it. A detail is built under the GIL, or in an RCU read section and from
// a copy of the code's history.
#ifndef OCULAR_TRACER_SESSION_LISTING_DETAIL_H
#define OCULAR_TRACER_SESSION_LISTING_DETAIL_H

#include "tracer/code/code.h"

struct ListingDetailRow {
    uint32_t offset;   // bytes
    uint32_t line;     // 0: none
    uint8_t opcode;    // base form
    uint8_t oparg;     // low byte of the argument
    uint32_t argument; // the whole argument, with all EXTENDED_ARGs
    uint8_t live;      // last known opcode, specialised or not
    // The instruction is or was seen in a specialised form.
    bool specialized_once;
    bool jitted; // an executor of the JIT is entered here
    bool site; // the instruction can have a hook, and the site is not redundant
    bool dark;
    // Known executions, never more than the true number. 0 and not `exact`:
    // unknown.
    uint64_t hits;
    bool exact; // otherwise `hits` is a lower bound
    // Samples that found the function running here, or in code without a record
    // that was called from here.
    uint64_t samples;
    uint64_t c_samples; // part of `samples`: in C code
    // Per execution; the cycles of a block are spread evenly over its
    // instructions. In precise mode cycles are measured for each instruction,
    // in its generic form. NaN: unknown.
    double cycles;
};

struct ListingDetail {
    uint32_t id;
    struct ListingDetailRow *rows;
    size_t row_count;
    // Precise mode: hits and cycles are measured for each instruction. CPython
    // runs an instruction whose INSTRUCTION event is armed in its generic form,
    // never specialised. So the cycles are those of `opcode`, whatever `live`
    // is.
    bool precise;
};

// Returns 0 or -ENOMEM.
int ListingDetail_init(struct ListingDetail *detail, const struct Code *code,
                       const struct Specialisation *history,
                       const struct Opcodes *opcodes);
void ListingDetail_release(struct ListingDetail *detail);

#endif
