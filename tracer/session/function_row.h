// SPDX-License-Identifier: MIT
// A function's row in a snapshot: its counters at one moment, and numbers that
// follow from them. The builder calls it, inside an RCU read section.
#ifndef OCULAR_TRACER_SESSION_FUNCTION_ROW_H
#define OCULAR_TRACER_SESSION_FUNCTION_ROW_H

#include "ipc/row_set.h"
#include "tracer/code/code.h"

#define RATE_WINDOW 0.5 // s, the least span a rate is taken over

struct Session;

// The input for all functions' figures.
struct Moment {
    struct Session *session;
    struct Registry *registry;
    uint64_t start_ticks;            // when the trace began
    double now;                      // s of CLOCK_MONOTONIC
    double started;                  // the same, when the trace began
    double hz;                       // ticks a second
    uint64_t ticks;                  // now
    const struct ShareTime *sampled; // NULL without a sampler
    bool sees;                       // there is one, and it can read
};

// The row points into the arena. false: memory is out.
bool FunctionRow_fill(struct Arena *arena, struct SharedRow *row,
                      struct Code *code, const struct Moment *at);
// Ticks until which it would be the same without another event, but for fading
// numbers: UINT64_MAX, for good; 0, it may change at once.
uint64_t FunctionRow_settled_until(const struct Function *f,
                                   const struct Code *code);

#endif
