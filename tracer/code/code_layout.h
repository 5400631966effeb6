// SPDX-License-Identifier: MIT
// Writer: Code_new (code.c) and Code_make_precise (precise.c), before others
// see the code; immutable from then on, but for the sites and instructions
// themselves, in which the thread that holds the counting lock counts. The part
// of struct Code that says where its events come from. Any thread reads.
#ifndef OCULAR_TRACER_CODE_CODE_LAYOUT_H
#define OCULAR_TRACER_CODE_CODE_LAYOUT_H

#include "tracer/base/counter.h"
#include "tracer/code/instruction.h"

#include <stdint.h>

enum SiteKind {
    SITE_START,  // the first RESUME: PY_START
    SITE_RESUME, // the others: PY_RESUME
    SITE_RETURN,
    SITE_YIELD,
    SITE_JUMP,
    SITE_BRANCH, // both arms, or the left one if the arms are two sites
    SITE_BRANCH_RIGHT
};

// Hooks by their cost. All run nearly the same instructions: they differ in
// CPython's work for the event, and in its part after the hook's reading of the
// counter. A generator or a coroutine is entered by a resumption, and CPython
// does more for that after the reading than for a call. A jump costs as much as
// a branch; an instruction's hook is given one offset instead of two.
enum HookKind {
    HOOK_ENTER,
    HOOK_RESUME, // enters of code that can be suspended, and throws
    HOOK_LEAVE,
    HOOK_YIELD, // leaves of code that can be suspended
    HOOK_JUMP,  // and a branch
    HOOK_INSTRUCTION,
    HOOK_FAR, // is added if an offset is beyond the small integers that
              // CPython keeps: of such a one it makes an object at each event
    HOOK_KINDS = 2 * HOOK_FAR
};

struct Site {
    counter_t hits;
    counter_t cycles;       // of the blocks that ended here, net
    counter_t instructions; // in those blocks
    uint64_t stop_at;       // hits at which it goes dark, or gets more
    uint16_t unit;          // code unit; its byte offset is twice this
    uint16_t reach;    // most instructions a block that ends here can have:
                       // those after the loop before it
    uint8_t kind;      // enum SiteKind
    uint8_t redundant; // follows from other sites: not kept armed
    _Atomic uint8_t dark;
    uint8_t hook; // enum HookKind: what its hook costs
};

// One code unit's entry in the map from offsets to sites.
struct Unit {
    uint16_t site;   // index + 1 into sites, 0 = none
    uint16_t number; // of its instruction, counted from 0, modulo 2^16
};

struct CodeLayout {
    struct Unit *units;  // unit_count of them
    uint32_t unit_count; // code units of the bytecode
    uint32_t site_count;
    uint32_t jump_count; // sites: jumps and branches that are kept armed
    struct Site *sites;  // site_count of them
    struct Instruction *instructions; // by number; NULL: not in precise mode
    uint32_t instruction_count; // also the number of the one that stands for
                                // "not known"; 0: not in precise mode
};

#endif
