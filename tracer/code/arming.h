// SPDX-License-Identifier: MIT
// What of a code object is armed, for how many hits, and what is right
// meanwhile: sites go dark and come back, its first calls warm it up, and
// epochs say whether what frames have seen can be believed. Interpreter's lock
// held.
#ifndef OCULAR_TRACER_CODE_ARMING_H
#define OCULAR_TRACER_CODE_ARMING_H

#include "tracer/code/code.h"

// Dark from the start, as it came where no more could be afforded: to be armed
// once it is worth knowing. To be called before anybody sees it.
void Code_leave_unarmed(struct Code *code);
// A jump's or branch's site goes dark: blocks cannot be told apart any more,
// unless it was a redundant one.
void Code_darken_site(struct Code *code, struct Site *site);
// Precise mode: an instruction's site goes dark.
void Code_darken_instruction(struct Code *code,
                             struct Instruction *instruction);
// To be called when what the epochs depend on has changed.
void Code_refresh(struct Code *code);
// A callee that is known has gone dark: its time would pass for this code's
// own. And the end of that.
void Code_gain_dark_callee(struct Code *code);
void Code_lose_dark_callee(struct Code *code);
// Its sites are armed again, for `hits` more each (0: for good); one that is
// armed for more than that stays so.
void Code_rearm(struct Code *code, uint64_t hits);
// Its first calls since then are over. false: they had been before.
bool Code_warm(struct Code *code);
// It is armed again, for so many calls that two of them need not be timed: the
// one in which it is warm and the one in which it goes dark, for each of which
// something is done in its sight.
static inline bool Code_may_skip_timing(const struct Code *code)
{
    return code->hot.warming || code->hot.stop_at == code->hot.stop_then;
}
// Armed code stays so for at least `hits` more calls.
void Code_extend(struct Code *code, uint64_t hits);
// Within a budget hits count in a second. From `ticks` on each armed site has
// so many, in portions: where it is to have fewer all the same, that holds
// soon. What is armed for good stays so.
void Code_give(struct Code *code, uint64_t hits, uint64_t ticks);

struct Second {
    uint64_t hits;  // that a site may have in it; 0: they count for good
    uint64_t ticks; // that it takes
};

// A site has had what it was given, of which `stop` and `portions` are: what
// enters the code, or a jump. (In precise mode there is no budget.) true: it
// gets more, since its second's are not used up, or a second is over.
bool Code_renew(struct Code *code, uint64_t *stop, uint16_t *portions,
                const struct Second *second, uint64_t ticks);
// The next call is to begin with all known callees armed, for so many calls.
void Code_want_callees(struct Code *code, uint32_t hits);

#endif
