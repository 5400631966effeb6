// SPDX-License-Identifier: MIT
// Scans live bytecode for specialised instructions. The hottest functions are
// scanned every time. All other functions are scanned in rounds, in the time
// that is left. Callers hold the GIL.
#pragma once

#include "python/hooks/state.h"
#include "tracer/budget/hottest.h"

// A round over all code takes at most POLL_ROUND_S seconds. Two scans of one
// function are at most two rounds apart.
#define POLL_ROUND_S 5.0

struct Poll {
    struct Hottest hottest;
    uint64_t round_ticks; // Time at which this round over all code began.
    // Number of code objects that were scanned in this round.
    uint64_t round_done;
};

// Forgets the rounds of an earlier session. Called at the start of a session.
void Poll_reset(struct Poll *poll, struct State *state);
// Scans functions in one of the governor's holds until the clock reaches
// `deadline` (ticks). If `hot` is true, scans the hottest functions first. The
// function never waits. Returns true if the round over all code is behind its
// schedule.
bool Poll_slice(struct Poll *poll, struct State *state, bool hot,
                uint64_t deadline);
// Scans for a snapshot that must show the newest changes. Scans the hottest
// functions and a thousand other functions. Then scans more functions until a
// millisecond has passed.
void Poll_now(struct Poll *poll, struct State *state);
void Poll_all(struct State *state);
