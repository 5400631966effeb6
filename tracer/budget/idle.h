// SPDX-License-Identifier: MIT
// Finds the functions that have been neither hit nor sampled for a while: they
// are let go (tracer/code/active.h). The governor's thread, without the
// interpreter's lock, behind a choice: that has noted their newest hits.
#ifndef OCULAR_TRACER_BUDGET_IDLE_H
#define OCULAR_TRACER_BUDGET_IDLE_H

#include "tracer/code/registry.h"

#include <stdbool.h>

#define IDLE_S 12.0 // without a hit; more than SOON_S in session/roll.c

// Its hooks have been in for so long, and nobody has called it.
static inline bool Idle_is_uncalled(const struct Code *code, uint64_t ticks,
                                    double hz)
{
    uint64_t seen = Counter_get(&code->hot.last_seen);

    return !code->hot.dark && seen && ticks > seen &&
           (double)(ticks - seen) > IDLE_S * hz;
}

struct Idle { // all zero: an empty one
    struct ActiveIds found;
    uint64_t since; // ticks: none of them was hit later
    uint64_t due;   // ticks of the next search; 0: at once
};

// Every now and then, else it finds none. `hz`: ticks a second.
void Idle_find(struct Idle *idle, struct Active *active, uint64_t ticks,
               double hz);
// Lets one of them go. false: there are no more. With the counting lock.
bool Idle_let_go(struct Idle *idle, struct Registry *registry);
void Idle_release(struct Idle *idle);

#endif
