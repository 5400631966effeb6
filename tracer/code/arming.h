// SPDX-License-Identifier: MIT
// The sites of a code object that are armed, and for how many hits: they go
// dark and come back, and epochs say whether the cycles of a frame can be
// believed. Counting lock held, once others see the code.
#ifndef OCULAR_TRACER_CODE_ARMING_H
#define OCULAR_TRACER_CODE_ARMING_H

#include "tracer/code/code.h"

// Leaves new code dark that came while no more could be afforded. It is armed
// at a later call. Called before the code can be found.
void Code_leave_unarmed(struct Code *code);
// A jump's or branch's site goes dark. From now on blocks are not known apart,
// unless the site was redundant.
void Code_darken_site(struct Code *code, struct Site *site);
// Precise mode: an instruction's site goes dark.
void Code_darken_instruction(struct Code *code,
                             struct Instruction *instruction);
// Called when the state that the epochs depend on has changed.
void Code_refresh(struct Code *code);
// A callee that is known has gone dark: its time would pass for this code's
// own. And the end of that.
void Code_gain_dark_callee(struct Code *code);
void Code_lose_dark_callee(struct Code *code);
// All its sites are armed, for `hits` more each (0: for good); jumps and
// branches only with `jumps`.
void Code_arm(struct Code *code, uint64_t hits, bool jumps);
// The same, after it was dark, at `ticks`.
void Code_rearm(struct Code *code, uint64_t hits, bool jumps, uint64_t ticks);
// Armed code has so many hits from `ticks` on, be that more or fewer than it
// had; code that is armed for good stays so.
void Code_extend(struct Code *code, uint64_t hits, uint64_t ticks);

struct Second {
    uint64_t hits;  // that a site may have in it; 0: they count for good
    uint64_t ticks; // that it takes
};

// A site has had its hits. true: it gets a second's more, since they took a
// second or longer.
bool Code_renew(struct Code *code, const struct Second *second, uint64_t ticks);
// A slice begins or ends for code that stays armed: in between, self time is
// taken of functions that call nothing.
void Code_set_between(struct Code *code, bool between);
// The slice in which it was armed is over: it goes dark at its next call. Code
// that is armed for good stays so.
void Code_end_slice(struct Code *code);

#endif
