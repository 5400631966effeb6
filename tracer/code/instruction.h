// SPDX-License-Identifier: MIT
// One instruction in precise mode: its hits and its cycles. The struct Code of
// the instruction owns it. The holder of the counting lock writes the fields.
// The collector reads the counters.
#ifndef OCULAR_TRACER_CODE_INSTRUCTION_H
#define OCULAR_TRACER_CODE_INSTRUCTION_H

#include "tracer/base/counter.h"
#include "tracer/base/opcode.h"

#define INSTRUCTION_NONE UINT16_MAX // not the number of an instruction
#define INSTRUCTION_MOST (UINT16_MAX - 1)

enum InstructionFlag {
    INSTRUCTION_FIRES = 1 << 0, // has an INSTRUCTION event, and is a site
    // Control comes here, or leaves, by ways that the neighbours do not show.
    INSTRUCTION_GATE = 1 << 1,
    INSTRUCTION_HEAD = 1 << 2, // the head of a loop
    INSTRUCTION_LOOP = 1 << 3, // jumps back to `next`, the head of a loop
    INSTRUCTION_SHOWN = 1 << 4 // the timeline shows each run
};

struct Instruction {
    counter_t hits;
    counter_t cycles; // net cycles: of the timed hits
    counter_t timed;  // hits whose end was seen
    uint64_t stop_at; // hits at which the instruction goes dark
    uint16_t unit;    // code unit: of the opcode, after any EXTENDED_ARG
    uint16_t next;    // number of an instruction that may run next
    uint16_t other;   // number of a second such instruction, or `next`
    uint8_t flags;    // enum InstructionFlag
    uint8_t hook;     // enum HookKind: the cost of the instruction's hook
    uint8_t opcode;   // only valid with INSTRUCTION_SHOWN, as is `line`
    uint32_t line;    // 0: there is no line
    _Atomic uint8_t dark;
    _Atomic uint8_t floor; // was dark before, so its hits are a lower bound
};

#endif
