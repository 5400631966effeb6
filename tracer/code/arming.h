// SPDX-License-Identifier: MIT
// Arms the sites of a code object for some hits, and makes the sites dark.
// Epochs say whether the cycles of a frame are right. As soon as other threads
// can see the code, the caller must hold the counting lock.
#ifndef OCULAR_TRACER_CODE_ARMING_H
#define OCULAR_TRACER_CODE_ARMING_H

#include "tracer/code/code.h"

// Leaves new code dark, and arms the code at a later call. This function is
// called if tracing has spent more than the budget allows, and before other
// threads can find the code.
void Code_leave_unarmed(struct Code *code);
// Makes the site of a jump or a branch dark. Afterwards the hooks miss some
// ends of blocks, unless the site was redundant.
void Code_darken_site(struct Code *code, struct Site *site);
// Makes the site of an instruction dark, in precise mode.
void Code_darken_instruction(struct Code *code,
                             struct Instruction *instruction);
// Computes block_epoch again after one of the fields in the computation has
// changed.
void Code_refresh(struct Code *code);
// Code_gain_dark_callee is called when a known callee has gone dark. From then
// on the callee's time would count as this code's own time.
// Code_lose_dark_callee is called when the callee is armed again.
void Code_gain_dark_callee(struct Code *code);
void Code_lose_dark_callee(struct Code *code);
// Arms all sites of the code for `hits` more hits each, or for good if `hits`
// is 0. Jumps and branches are armed only if `jumps` is true.
void Code_arm(struct Code *code, uint64_t hits, bool jumps);
// Arms code that was dark, at the time `ticks`. The parameters are those of
// Code_arm.
void Code_rearm(struct Code *code, uint64_t hits, bool jumps, uint64_t ticks);
// Gives each site of armed code `hits` hits from the time `ticks` on. This
// number may be larger or smaller than before. Code that is armed for good
// stays armed for good.
void Code_extend(struct Code *code, uint64_t hits, uint64_t ticks);

struct Second {
    // Hits of a site per second; 0 means that hits are never renewed.
    uint64_t hits;
    uint64_t ticks; // ticks per second
};

// This function is called when a site has used up its hits. If that took a
// second or longer, the function gives the code the hits of another second and
// returns true.
bool Code_renew(struct Code *code, const struct Second *second, uint64_t ticks);
// When a slice begins or ends, this function is called for each code that stays
// armed. If no slice is open, `between` is true, and only functions without
// callees are timed.
void Code_set_between(struct Code *code, bool between);
// Ends the slice in which the code was armed, so that the code goes dark at its
// next call. Code that is armed for good stays armed for good.
void Code_end_slice(struct Code *code);

#endif
