// SPDX-License-Identifier: MIT
// These fields of struct Code describe the places in the bytecode that have
// events. Code_new (code.c) and Code_make_precise (precise.c) write the fields
// before other threads see the code. After that all fields are immutable,
// except the counters in `sites` and `instructions`, which the holder of the
// counting lock changes. Any thread reads the fields.
#ifndef OCULAR_TRACER_CODE_CODE_LAYOUT_H
#define OCULAR_TRACER_CODE_CODE_LAYOUT_H

#include "tracer/base/counter.h"
#include "tracer/code/instruction.h"

#include <stdint.h>

enum SiteKind {
    SITE_START,  // the first RESUME, which has the event PY_START
    SITE_RESUME, // any other RESUME, which has the event PY_RESUME
    SITE_RETURN,
    SITE_YIELD,
    SITE_JUMP,
    // Both arms of a branch, or the left arm if the arms are two sites.
    SITE_BRANCH,
    SITE_BRANCH_RIGHT
};

// The kinds of hooks by their cost. All hooks run nearly the same instructions.
// Hooks differ in the work that CPython does for the event before and after the
// hook reads the counter. A resumption enters a generator or a coroutine. After
// the hook has read the counter, CPython does more work for a resumption than
// for a call. A jump costs as much as a branch. An instruction's hook gets one
// offset instead of two.
enum HookKind {
    HOOK_ENTER,
    HOOK_RESUME, // enters of code that can be suspended, and throws
    HOOK_LEAVE,
    HOOK_YIELD, // leaves of code that can be suspended
    HOOK_JUMP,  // a jump or a branch
    HOOK_INSTRUCTION,
    // This number is added to the kind if an offset is larger than CPython's
    // small integers. For such an offset CPython makes an integer object at
    // each event.
    HOOK_FAR,
    HOOK_KINDS = 2 * HOOK_FAR
};

struct Site {
    counter_t hits;
    counter_t cycles;       // net cycles of the blocks that end at this site
    counter_t instructions; // number of instructions in these blocks
    // when `hits` reaches this number, the site goes dark or gets more hits
    uint64_t stop_at;
    uint16_t unit; // number of the code unit, which is half the byte offset
    // The largest number of instructions of a block that ends at this site.
    // Such a block begins after the last loop before the site.
    uint16_t reach;
    uint8_t kind; // enum SiteKind
    // true if other sites' counts give this site's count, so that the site goes
    // dark at once
    uint8_t redundant;
    _Atomic uint8_t dark;
    uint8_t hook; // enum HookKind, which determines the cost of the site's hook
};

// One code unit's entry in the map from offsets to sites.
struct Unit {
    uint16_t site;   // index into `sites` plus 1; 0 if there is no site
    uint16_t number; // number of the unit's instruction, from 0, modulo 2^16
};

struct CodeLayout {
    struct Unit *units;  // array of unit_count entries
    uint32_t unit_count; // number of code units of the bytecode
    uint32_t site_count;
    // Number of sites of jumps and branches that are kept armed.
    uint32_t jump_count;
    struct Site *sites; // array of site_count entries
    // indexed by instruction number; NULL if not in precise mode
    struct Instruction *instructions;
    // The number of instructions; 0 if not in precise mode. In `instructions`
    // the entry with this index stands for an unknown instruction.
    uint32_t instruction_count;
};

#endif
