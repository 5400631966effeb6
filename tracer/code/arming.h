// SPDX-License-Identifier: MIT
// Installs the hooks of a code object for a number of hits (arms its sites),
// and removes them (makes the sites dark). Each frame has an epoch number,
// which says whether the frame's cycles are right. As soon as other threads can
// see the code, a caller of the functions of arming.h must hold the counting
// lock.
#pragma once

#include "tracer/code/code.h"

// Leaves new code without hooks. A later call of the code can install them.
// Code_leave_unarmed is called if tracing has spent more than the budget
// allows, before other threads can find the code.
void Code_leave_unarmed(struct Code *code);
// Removes the hook of a jump or a branch. If the site was not redundant, the
// hooks afterwards miss some ends of blocks.
void Code_darken_site(struct Code *code, struct Site *site);
// In precise mode, removes the hook of an instruction.
void Code_darken_instruction(struct Code *code,
                             struct Instruction *instruction);
// Computes block_epoch again after a change of a field from which block_epoch
// is computed.
void Code_refresh(struct Code *code);
// Code_gain_dark_callee is called when a known callee has lost its hooks (gone
// dark). The time of a callee without hooks would count as the caller's own
// time. Code_lose_dark_callee is called when the callee has its hooks again.
void Code_gain_dark_callee(struct Code *code);
void Code_lose_dark_callee(struct Code *code);
// Installs the hooks of the code's lines for `hits` more hits of each line, if
// the user has chosen lines.
void Code_arm_lines(struct Code *code, uint64_t hits);
// Installs all hooks of the code for `hits` more hits each, or forever if
// `hits` is 0. Jumps, branches and lines get hooks only if `jumps` is true.
void Code_arm(struct Code *code, uint64_t hits, bool jumps);
// Code_rearm installs the hooks again at the time `ticks`. `hits` and `jumps`
// are the same as in Code_arm.
void Code_rearm(struct Code *code, uint64_t hits, bool jumps, uint64_t ticks);
// Allows each installed hook of the code `hits` hits from the time `ticks` on.
// `hits` can be smaller or larger than the number of hits that the hook had
// left. Hooks that were installed forever stay.
void Code_extend(struct Code *code, uint64_t hits, uint64_t ticks);

struct Second {
    // Number of hits that each hook may have in a second. If `hits` is 0, hooks
    // get no new hits.
    uint64_t hits;
    uint64_t ticks; // Ticks per second.
};

// Code_renew is called when a hook has used up its hits. If the hits lasted for
// a second or longer, Code_renew allows the code the hits of another second and
// returns true.
bool Code_renew(struct Code *code, const struct Second *second, uint64_t ticks);
// Code_set_between is called when a slice begins or ends, for each code that
// always has hooks. (In a slice all functions have hooks.)
void Code_set_between(struct Code *code, bool between);
// Ends the slice for the code, so that the code loses its hooks at its next
// call. Code that is armed forever stays armed forever.
void Code_end_slice(struct Code *code);
