// SPDX-License-Identifier: MIT
// One instruction in precise mode: its hits and its cycles. Made with its
// struct Code, which owns it. Written by the holder of the counting lock; the
// collector reads the counters.
#ifndef OCULAR_TRACER_CODE_INSTRUCTION_H
#define OCULAR_TRACER_CODE_INSTRUCTION_H

#include "tracer/base/counter.h"
#include "tracer/base/opcode.h"

#define INSTRUCTION_NONE UINT16_MAX // no instruction's number
#define INSTRUCTION_MOST (UINT16_MAX - 1)

enum InstructionFlag {
    INSTRUCTION_FIRES = 1 << 0, // it has an INSTRUCTION event: it is a site
    INSTRUCTION_GATE = 1 << 1,  // control comes here, or leaves, on ways that
                                // its neighbours do not show
    INSTRUCTION_HEAD = 1 << 2,  // of a loop
    INSTRUCTION_LOOP = 1 << 3,  // jumps back to `next`, the head of a loop
    INSTRUCTION_SHOWN = 1 << 4  // the timeline has it each time that it runs
};

struct Instruction {
    counter_t hits;
    counter_t cycles; // net, of those that were timed
    counter_t timed;  // hits of which the end was seen
    uint64_t stop_at; // hits at which it goes dark
    uint16_t unit;    // code unit of its opcode, behind any EXTENDED_ARG
    uint16_t next;    // number of the one that runs after it...
    uint16_t other;   // ...or of the other one; the same if there is but one
    uint8_t flags;    // enum InstructionFlag
    uint8_t hook;     // enum HookKind: what its hook costs
    uint8_t opcode;   // this and the next: where it is INSTRUCTION_SHOWN
    uint32_t line;    // 0: none
    _Atomic uint8_t dark;
    _Atomic uint8_t floor; // it was dark once: its hits are not all
};

#endif
