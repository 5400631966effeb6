// SPDX-License-Identifier: MIT
// struct ListingDetail describes the opcode, the specialised form, the number
// of executions and the cost of each instruction of a function. The report and
// the listings in viewers are made from structs ListingDetail. A thread that
// holds the GIL may build a ListingDetail at any time. A thread without the GIL
// builds a ListingDetail in an RCU read section, from a copy of the code's
// specialisation history.
#pragma once

#include "tracer/code/code.h"

struct ListingDetailRow {
    uint32_t offset; // Offset of the instruction in bytes.
    uint32_t line;   // Line in the source file, or 0.
    uint8_t opcode;  // The unspecialised (base) opcode.
    // The instruction's whole argument, with all EXTENDED_ARGs.
    uint32_t argument;
    // The last known form of the instruction's opcode, which may be
    // specialised.
    uint8_t live;
    // True if the instruction is or was seen in a specialised form.
    bool specialized_once;
    // True if jitted code begins at the instruction.
    bool jitted;
    // True if the instruction can have a hook and its site is not redundant.
    bool site;
    bool dark;
    // Known number of executions of the instruction, which is at most the true
    // number. If `hits` is 0 and `exact` is false, the number is not known.
    uint64_t hits;
    bool exact; // False if `hits` is only a lower bound.
    // Number of times that the instruction has jumped. 0 except for a branch.
    uint64_t taken;
    bool branch; // True if the branch was counted, so that `taken` is known.
    // Number of samples in which the function was at this instruction, or in C
    // code without a row of its own that this instruction has called.
    uint64_t samples;
    // The part of `samples` that found C code.
    uint64_t c_samples;
    // Cycles of one execution of the instruction, or NaN if unknown. The cycles
    // of a block are divided evenly among its instructions. In precise mode,
    // cycles are measured for each instruction in its generic form.
    double cycles;
};

struct ListingDetail {
    struct ListingDetailRow *rows;
    size_t row_count;
    // True in precise mode, in which hits and cycles are measured for each
    // instruction. CPython runs the unspecialised form of an instruction that
    // has a hook for INSTRUCTION events. In precise mode, the cycles are
    // therefore those of `opcode`, even if `live` is another opcode.
    bool precise;
};

// Fills *detail. Returns 0 or -ENOMEM.
int ListingDetail_init(struct ListingDetail *detail, const struct Code *code,
                       const struct Specialisation *history,
                       const struct Opcodes *opcodes);
void ListingDetail_release(struct ListingDetail *detail);
