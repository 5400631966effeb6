// SPDX-License-Identifier: MIT
// Writer: Code_new (code.c) and Code_make_precise (precise.c), before other
// threads see the code. Afterwards all fields are immutable except the sites
// and the instructions, in which the holder of the counting lock counts. These
// fields of struct Code say where its events come from. Any thread reads them.
#ifndef OCULAR_TRACER_CODE_CODE_LAYOUT_H
#define OCULAR_TRACER_CODE_CODE_LAYOUT_H

#include "tracer/base/counter.h"
#include "tracer/code/instruction.h"

#include <stdint.h>

enum SiteKind {
    SITE_START,  // the first RESUME: PY_START
    SITE_RESUME, // the other RESUMEs: PY_RESUME
    SITE_RETURN,
    SITE_YIELD,
    SITE_JUMP,
    SITE_BRANCH, // both arms, or the left one if the arms are two sites
    SITE_BRANCH_RIGHT
};

// The kinds of hooks by their cost. All hooks run nearly the same instructions.
// Hooks differ in CPython's work for the event, and in the part of CPython's
// work that comes after the hook has read the counter. A resumption enters a
// generator or a coroutine, and CPython does more for a resumption after the
// reading than for a call. A jump costs as much as a branch. An instruction's
// hook gets one offset instead of two.
enum HookKind {
    HOOK_ENTER,
    HOOK_RESUME, // enters of code that can be suspended, and throws
    HOOK_LEAVE,
    HOOK_YIELD, // leaves of code that can be suspended
    HOOK_JUMP,  // a jump or a branch
    HOOK_INSTRUCTION,
    // Added if an offset is beyond the small integers that CPython keeps.
    // CPython makes an integer object for such an offset at each event.
    HOOK_FAR,
    HOOK_KINDS = 2 * HOOK_FAR
};

struct Site {
    counter_t hits;
    counter_t cycles;       // net cycles of the blocks that ended here
    counter_t instructions; // instructions in these blocks
    uint64_t stop_at;       // hits at which the site goes dark, or gets more
    uint16_t unit;          // code unit; its byte offset is twice this
    // The most instructions of a block that ends here, which are those after
    // the loop before it.
    uint16_t reach;
    uint8_t kind;      // enum SiteKind
    uint8_t redundant; // follows from other sites, so it is not kept armed
    _Atomic uint8_t dark;
    uint8_t hook; // enum HookKind: the cost of the site's hook
};

// One code unit's entry in the map from offsets to sites.
struct Unit {
    uint16_t site;   // index into `sites` plus 1; 0: there is no site
    uint16_t number; // number of its instruction, from 0, modulo 2^16
};

struct CodeLayout {
    struct Unit *units;  // unit_count entries
    uint32_t unit_count; // code units of the bytecode
    uint32_t site_count;
    uint32_t jump_count; // sites of jumps and branches that are kept armed
    struct Site *sites;  // site_count entries
    struct Instruction *instructions; // by number; NULL: not in precise mode
    // Also the number of the instruction that stands for an unknown one. 0: not
    // in precise mode.
    uint32_t instruction_count;
};

#endif
