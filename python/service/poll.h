// SPDX-License-Identifier: MIT
// When whose live bytecode is scanned: the hottest functions every time, all
// others in rounds, as far as the time goes. Interpreter's lock held.
#ifndef OCULAR_PYTHON_SERVICE_POLL_H
#define OCULAR_PYTHON_SERVICE_POLL_H

#include "python/hooks/state.h"
#include "tracer/budget/hottest.h"

// A round of all code is to take at most so long: two scans of one function
// are then at most twice that apart, wherever in their rounds they come.
#define POLL_ROUND_S 5.0

struct Poll {
    struct Hottest hottest;
    uint64_t round_ticks; // when this round of all code began
    uint64_t round_done;  // code objects scanned in it
};

// Begins a session: nothing has been scanned.
void Poll_reset(struct Poll *poll, struct State *state);
// The governor's polls in a slice, for as long as `deadline` (ticks) allows;
// with `hot` it begins with the hottest functions. Never waits. true: the round
// is behind its schedule, so come again soon.
bool Poll_slice(struct Poll *poll, struct State *state, bool hot,
                uint64_t deadline);
// For a snapshot that is to show the newest changes: polls the hottest
// functions, then a thousand others, and more within a millisecond.
void Poll_now(struct Poll *poll, struct State *state);
void Poll_all(struct State *state);

#endif
