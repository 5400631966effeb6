// SPDX-License-Identifier: MIT
// struct CodeLayout, a part of struct Code, lists the sites (the places in the
// bytecode at which CPython reports events). Code_new (code.c) and
// Code_make_precise (precise.c) write struct CodeLayout before other threads
// see the code. After that, only the counts in `sites` and `instructions`
// change, under the counting lock. Any thread may read struct CodeLayout.
#pragma once

#include "tracer/base/counter.h"
#include "tracer/code/instruction.h"

#include <stdint.h>

enum SiteKind {
    SITE_START,  // The first RESUME of the code, which has the event PY_START.
    SITE_RESUME, // Any later RESUME, which has the event PY_RESUME.
    SITE_RETURN,
    SITE_YIELD,
    SITE_JUMP,
    // Both arms of a branch, or only the left arm if each arm has its own site.
    SITE_BRANCH,
    SITE_BRANCH_RIGHT
};

// The kinds of hooks, which differ in cost. All hooks run nearly the same
// instructions of Ocular. The kinds of hooks differ in the work that CPython
// does for the event before and after the hook reads the time stamp counter. A
// resumption is an entry into a suspended generator or coroutine. After the
// hook has read the time stamp counter, CPython does more work for a resumption
// than for a call. The hook of a jump costs as much as the hook of a branch.
// CPython passes one offset to the hook of an instruction, one line number to
// the hook of a line, and two offsets to the hook of a jump or a branch.
enum HookKind {
    HOOK_ENTER,
    // The entry into a generator or a coroutine, and a throw into one.
    HOOK_RESUME,
    HOOK_LEAVE,
    HOOK_YIELD, // The return or yield of a generator or a coroutine.
    HOOK_JUMP,  // A jump or a branch.
    HOOK_INSTRUCTION,
    HOOK_LINE,
    // HOOK_FAR is added to the kind of a hook if one of the hook's offsets is
    // larger than CPython's small integers. CPython makes an integer object of
    // a large offset at each event.
    HOOK_FAR,
    HOOK_KINDS = 2 * HOOK_FAR
};

struct Site {
    counter_t hits;
    // Net cycles of the blocks of instructions that end at this site.
    counter_t cycles;
    // Number of instructions that ran in the blocks that end at this site.
    counter_t instructions;
    // At this number of hits the site loses its hook or gets more hits.
    uint64_t stop_at;
    // Number of the site's code unit, which is half the byte offset.
    uint16_t unit;
    // The largest number of instructions in a block that ends at this site. If
    // the last loop before the site ended in this block, only the instructions
    // after the loop count.
    uint16_t reach;
    uint8_t kind; // enum SiteKind.
    // True if the site's count follows from other sites' counts, so that the
    // site loses its hook at its first hit.
    uint8_t redundant;
    _Atomic uint8_t dark;
    // Enum HookKind, which determines the cost of the site's hook.
    uint8_t hook;
};

// The entry of one code unit in the map from byte offsets to sites.
struct Unit {
    // Index into CodeLayout.sites plus 1, or 0 if there is no site.
    uint16_t site;
    // Number of the instruction in this unit, counted from 0, modulo 2^16.
    uint16_t number;
};

struct LineHits;

struct CodeLayout {
    // Array with an entry for each code unit of the bytecode.
    struct Unit *units;
    uint32_t unit_count; // Number of code units of the bytecode.
    uint32_t site_count;
    // True if there are sites of jumps or branches, except redundant ones.
    bool jumps;
    bool straight; // True if jumps and branches get no hooks.
    // Number of instructions in precise mode, otherwise 0. The entry of
    // `instructions` with the index `instruction_count` stands for an unknown
    // instruction.
    uint32_t instruction_count;
    struct Site *sites; // Array of site_count entries.
    // Array indexed by the instruction's number, or NULL if not in precise
    // mode.
    struct Instruction *instructions;
    // The hits of lines, or NULL before lines first had hooks. The thread that
    // installs hooks for lines publishes the pointer `lines` with release.
    struct LineHits *_Atomic lines;
    // Before CPython 3.14, an array with the number of times that each site's
    // branch has jumped, or NULL if no branch has. The thread that counts hits
    // publishes the pointer `taken` with release.
    counter_t *_Atomic taken;
};
