// SPDX-License-Identifier: MIT
// Describes each instruction of a function, with its opcode, specialised form,
// number of executions and cost. The report at the end and the listings of
// viewers are made from this description. A detail is built with the GIL held.
// If a thread does not hold the GIL, it builds the detail in an RCU read
// section, from a copy of the code's history.
#ifndef OCULAR_TRACER_SESSION_LISTING_DETAIL_H
#define OCULAR_TRACER_SESSION_LISTING_DETAIL_H

#include "tracer/code/code.h"

struct ListingDetailRow {
    uint32_t offset;   // offset in bytes.
    uint32_t line;     // line number, or 0.
    uint8_t opcode;    // base form.
    uint8_t oparg;     // low byte of the argument.
    uint32_t argument; // the whole argument, with all EXTENDED_ARGs.
    uint8_t live;      // last known opcode, which may be specialised.
    // true if the instruction is or was seen in a specialised form
    bool specialized_once;
    bool
        jitted; // true if an executor of the JIT is entered at the instruction.
    // true if the instruction can have a hook and the site is not redundant
    bool site;
    bool dark;
    // Known executions, at most the true number. If `hits` is 0 and `exact` is
    // false, the number is unknown.
    uint64_t hits;
    bool exact; // false if `hits` is a lower bound
    // Samples that found the function running at this instruction, or in code
    // without a record that this instruction has called.
    uint64_t samples;
    uint64_t c_samples; // the part of `samples` in C code
    // Cycles per execution. The cycles of a block are divided evenly among its
    // instructions. In precise mode cycles are measured for each instruction,
    // in its generic form. NaN if unknown.
    double cycles;
};

struct ListingDetail {
    uint32_t id;
    struct ListingDetailRow *rows;
    size_t row_count;
    // True in precise mode. In this mode hits and cycles are measured for each
    // instruction. If the INSTRUCTION event of an instruction is armed, CPython
    // runs the instruction in its generic form. So the cycles are those of
    // `opcode`, even if `live` is another opcode.
    bool precise;
};

// Returns 0 or -ENOMEM.
int ListingDetail_init(struct ListingDetail *detail, const struct Code *code,
                       const struct Specialisation *history,
                       const struct Opcodes *opcodes);
void ListingDetail_release(struct ListingDetail *detail);

#endif
