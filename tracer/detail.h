// SPDX-License-Identifier: MIT
// One function, instruction by instruction: what is there, what it became, how
// often it ran and what it cost. Built with the interpreter's lock held (it
// reads the live bytecode's copy); the stop report and the viewer's annotate
// view are made of it.
#ifndef OCULAR_TRACER_DETAIL_H
#define OCULAR_TRACER_DETAIL_H

#include "tracer/code.h"

struct DetailRow {
    uint32_t offset;   // bytes
    uint32_t line;     // 0 = none
    uint8_t opcode;    // base
    uint8_t oparg;     // the low byte; EXTENDED_ARG rows are folded away
    uint32_t argument; // whole
    uint8_t live;      // what is known to be there: specialised, or base
    bool jitted;       // an executor is entered here
    bool site;         // instrumentable and not redundant
    bool dark;
    uint64_t hits; // never more than its executions; 0 and not exact: unknown
    bool exact;    // else hits is a floor
    uint64_t samples; // looks of the sampler that found it running here, or in
                      // what it had called there that is nobody's
    double cycles; // per execution, the block's spread evenly; in precise mode
                   // its own, of the generic opcode; NaN: unknown
};

struct Detail {
    uint32_t id;
    struct DetailRow *rows;
    size_t row_count;
    // Precise mode: hits and cycles are each instruction's own. CPython runs an
    // instruction whose INSTRUCTION event is armed in its generic form, never
    // specialised: so the cycles are `opcode`'s, whatever `live` says.
    bool precise;
};

int Detail_init(struct Detail *detail, const struct Code *code,
                const struct Opcodes *opcodes); // 0 or -ENOMEM
void Detail_release(struct Detail *detail);

#endif
