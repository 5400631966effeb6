// SPDX-License-Identifier: MIT
// Arms the sites of a code object for some hits, and makes the sites dark.
// Epochs say whether the cycles of a frame are right. The counting lock is held
// after other threads can see the code.
#ifndef OCULAR_TRACER_CODE_ARMING_H
#define OCULAR_TRACER_CODE_ARMING_H

#include "tracer/code/code.h"

// Leaves new code dark, because more has been spent than the budget has. The
// code is armed at a later call. This function is called before the code can be
// found.
void Code_leave_unarmed(struct Code *code);
// Makes the site of a jump or a branch dark. From then on not all ends of
// blocks are seen, unless the site was redundant.
void Code_darken_site(struct Code *code, struct Site *site);
// Makes the site of an instruction dark, in precise mode.
void Code_darken_instruction(struct Code *code,
                             struct Instruction *instruction);
// Updates block_epoch after a change of the state that it depends on.
void Code_refresh(struct Code *code);
// Code_gain_dark_callee notes that a known callee has gone dark, whose time
// would count as this code's own. Code_lose_dark_callee notes that such a
// callee is armed again.
void Code_gain_dark_callee(struct Code *code);
void Code_lose_dark_callee(struct Code *code);
// Arms all sites of the code for `hits` more hits each, or for good if `hits`
// is 0. Jumps and branches are armed only if `jumps` is set.
void Code_arm(struct Code *code, uint64_t hits, bool jumps);
// Arms code that was dark, at the time `ticks`. The parameters are those of
// Code_arm.
void Code_rearm(struct Code *code, uint64_t hits, bool jumps, uint64_t ticks);
// Gives each site of armed code `hits` hits from `ticks` on, which may be more
// or fewer than before. Code that is armed for good stays armed for good.
void Code_extend(struct Code *code, uint64_t hits, uint64_t ticks);

struct Second {
    uint64_t hits;  // hits of a site per second; 0: hits are never renewed
    uint64_t ticks; // ticks per second
};

// Called when a site has used up its hits. If this took a second or longer,
// gives the code another second's hits and returns true.
bool Code_renew(struct Code *code, const struct Second *second, uint64_t ticks);
// Called when a slice begins or ends for code that stays armed. `between` says
// that no slice is open: then only functions without callees are timed.
void Code_set_between(struct Code *code, bool between);
// Ends the slice in which the code was armed, so that the code goes dark at its
// next call. Code that is armed for good stays armed for good.
void Code_end_slice(struct Code *code);

#endif
