// SPDX-License-Identifier: MIT
// Arms the sites of a code object for a number of hits, and makes sites dark.
// An epoch number says whether the cycles of a frame are right. As soon as
// other threads can see the code, a caller of the functions of arming.h must
// hold the counting lock.
#pragma once

#include "tracer/code/code.h"

// Leaves new code without hooks (dark), so that a later call arms the code.
// Code_leave_unarmed is called if tracing has spent more than the budget
// allows, before other threads can find the code.
void Code_leave_unarmed(struct Code *code);
// Makes the site of a jump or a branch dark. If the site was not redundant, the
// hooks afterwards miss some ends of blocks.
void Code_darken_site(struct Code *code, struct Site *site);
// In precise mode, makes the site of an instruction dark.
void Code_darken_instruction(struct Code *code,
                             struct Instruction *instruction);
// Computes block_epoch again after a change of a field from which block_epoch
// is computed.
void Code_refresh(struct Code *code);
// Code_gain_dark_callee is called when a known callee has gone dark. While a
// callee is dark, the callee's time would count as the caller's own time.
// Code_lose_dark_callee is called when a known callee is armed again.
void Code_gain_dark_callee(struct Code *code);
void Code_lose_dark_callee(struct Code *code);
// Arms the code's lines in the same way, if the user has chosen lines.
void Code_arm_lines(struct Code *code, uint64_t hits);
// Arms all sites of the code for `hits` more hits each, or forever if `hits` is
// 0. Jumps, branches and lines are armed only if `jumps` is true.
void Code_arm(struct Code *code, uint64_t hits, bool jumps);
// Arms dark code at the time `ticks`. `hits` and `jumps` are the same as in
// Code_arm.
void Code_rearm(struct Code *code, uint64_t hits, bool jumps, uint64_t ticks);
// Allows each site of armed code `hits` hits from the time `ticks` on. The
// number `hits` can be smaller or larger than the number of hits that the site
// had left. Code that is armed forever stays armed forever.
void Code_extend(struct Code *code, uint64_t hits, uint64_t ticks);

struct Second {
    // Number of hits that each site may have in a second. If `hits` is 0, sites
    // get no new hits.
    uint64_t hits;
    uint64_t ticks; // Ticks per second.
};

// Code_renew is called when a site has used up its hits. If the hits lasted for
// a second or longer, Code_renew allows the code the hits of another second and
// returns true.
bool Code_renew(struct Code *code, const struct Second *second, uint64_t ticks);
// Code_set_between is called for each code that stays armed when a slice begins
// or ends. (A slice is a time in which all functions are armed.) `between` is
// true if no slice is open, so that only functions without callees are timed.
void Code_set_between(struct Code *code, bool between);
// Ends the slice of armed code, so that the code goes dark at its next call.
// Code that is armed forever stays armed forever.
void Code_end_slice(struct Code *code);
