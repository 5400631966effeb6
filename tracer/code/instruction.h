// SPDX-License-Identifier: MIT
// Counts the hits and the cycles of one instruction in precise mode. The
// instruction's struct Code owns this struct. The holder of the counting lock
// writes the fields. The collector reads the counters.
#ifndef OCULAR_TRACER_CODE_INSTRUCTION_H
#define OCULAR_TRACER_CODE_INSTRUCTION_H

#include "tracer/base/counter.h"
#include "tracer/base/opcode.h"

#define INSTRUCTION_NONE UINT16_MAX // a number that no instruction has
#define INSTRUCTION_MOST (UINT16_MAX - 1)

enum InstructionFlag {
    INSTRUCTION_FIRES = 1 << 0, // has an INSTRUCTION event, and is a site
    // The program can reach or leave the instruction in a way that the
    // instruction's neighbours do not show.
    INSTRUCTION_GATE = 1 << 1,
    INSTRUCTION_HEAD = 1 << 2, // the head of a loop
    // jumps back to `next`, which is the head of a loop
    INSTRUCTION_LOOP = 1 << 3,
    INSTRUCTION_SHOWN = 1 << 4 // the timeline shows each run
};

struct Instruction {
    counter_t hits;
    counter_t cycles; // net cycles of the timed hits.
    counter_t timed;  // number of hits whose end was seen.
    // When `hits` reaches this number, the instruction goes dark.
    uint64_t stop_at;
    uint16_t unit; // code unit of the opcode, after any EXTENDED_ARG.
    uint16_t next; // number of an instruction that may run next.
    // number of another instruction that may run next, or equal to `next`
    uint16_t other;
    uint8_t flags; // enum InstructionFlag.
    // enum HookKind, which determines the cost of the instruction's hook
    uint8_t hook;
    uint8_t opcode; // valid, like `line`, only with INSTRUCTION_SHOWN.
    uint32_t line;  // 0 if there is no line.
    _Atomic uint8_t dark;
    // True if the instruction was ever dark, so that `hits` is a lower bound.
    _Atomic uint8_t floor;
};

#endif
