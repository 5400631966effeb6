// SPDX-License-Identifier: MIT
// struct ListingDetail describes each instruction of a function: its opcode,
// its specialised form, its number of executions and its cost. The report and
// the viewers' listings are made from a ListingDetail. A thread that holds the
// GIL may build a ListingDetail at any time. A thread without the GIL builds a
// ListingDetail in a read section of RCU, from a copy of the code's history.
#pragma once

#include "tracer/code/code.h"

struct ListingDetailRow {
    uint32_t offset; // Offset of the instruction in bytes.
    uint32_t line;   // Line in the source file, or 0.
    uint8_t opcode;  // Base form of the instruction's opcode.
    uint8_t oparg;   // Low byte of the instruction's argument.
    // The instruction's whole argument, with all EXTENDED_ARGs.
    uint32_t argument;
    // The last known form of the instruction's opcode, which may be
    // specialised.
    uint8_t live;
    // True if the instruction is or was seen in a specialised form.
    bool specialized_once;
    // True if an executor of the JIT is entered at the instruction.
    bool jitted;
    // True if the instruction can have a hook and its site is not redundant.
    bool site;
    bool dark;
    // Known number of executions of the instruction, which is at most the true
    // number. If `hits` is 0 and `exact` is false, the number is not known.
    uint64_t hits;
    bool exact; // False if `hits` is only a lower bound.
    // Number of times that the instruction has jumped. Only a branch has it.
    uint64_t taken;
    bool branch; // True if the branch was counted, so that `taken` is known.
    // Number of samples that found the function at this instruction, or in code
    // without a record that this instruction has called.
    uint64_t samples;
    // Number of the instruction's samples that found C code.
    uint64_t c_samples;
    // Cycles of one execution of the instruction, or NaN if unknown. The cycles
    // of a block are divided evenly among its instructions. In precise mode,
    // cycles are measured for each instruction in its generic form.
    double cycles;
};

struct ListingDetail {
    uint32_t id;
    struct ListingDetailRow *rows;
    size_t row_count;
    // True in precise mode, in which hits and cycles are measured for each
    // instruction. CPython runs an instruction with an armed INSTRUCTION event
    // in its generic form. So in precise mode the cycles of an instruction are
    // those of its base form `opcode`, even if `live` is another opcode.
    bool precise;
};

// Fills *detail. Returns 0 or -ENOMEM.
int ListingDetail_init(struct ListingDetail *detail, const struct Code *code,
                       const struct Specialisation *history,
                       const struct Opcodes *opcodes);
void ListingDetail_release(struct ListingDetail *detail);
