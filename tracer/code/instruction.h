// SPDX-License-Identifier: MIT
// struct Instruction counts the hits and the cycles of one instruction in
// precise mode. Each struct Instruction belongs to the struct Code of its code
// object. The holder of the counting lock writes struct Instruction. The
// collector's thread reads the counts.
#pragma once

#include "tracer/base/counter.h"

#define INSTRUCTION_NONE UINT16_MAX // No instruction has this number.
#define INSTRUCTION_MOST (UINT16_MAX - 1)

enum InstructionFlag {
    // CPython reports an INSTRUCTION event for the instruction.
    INSTRUCTION_FIRES = 1 << 0,
    // The program can reach or leave the instruction in a way that `next` and
    // `other` do not show.
    INSTRUCTION_GATE = 1 << 1,
    // The instruction is the first instruction of a loop.
    INSTRUCTION_HEAD = 1 << 2,
    // The instruction jumps back to `next`, which is the first instruction of a
    // loop.
    INSTRUCTION_LOOP = 1 << 3,
    // The timeline shows each run of the instruction.
    INSTRUCTION_SHOWN = 1 << 4
};

struct Instruction {
    counter_t hits;
    counter_t cycles; // Net cycles of the runs whose end was seen.
    // Number of hits for which the end of the instruction was seen.
    counter_t timed;
    // At this number of hits, the instruction loses its hook.
    uint64_t stop_at;
    // Number of the code unit of the opcode, after any EXTENDED_ARG.
    uint16_t unit;
    uint16_t next; // Number of an instruction that can run next.
    // Number of another instruction that can run next, or equal to `next`.
    uint16_t other;
    uint8_t flags; // enum InstructionFlag.
    // enum HookKind, which determines the cost of the instruction's hook.
    uint8_t hook;
    uint8_t opcode; // `opcode` and `line` are set only with INSTRUCTION_SHOWN.
    uint32_t line;  // Line number in the source, or 0 if there is no line.
    _Atomic uint8_t dark;
    // True if the instruction was ever without its hook (dark), so that `hits`
    // is a lower bound.
    _Atomic uint8_t floor;
};
