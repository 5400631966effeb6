// SPDX-License-Identifier: MIT
// A function's row in a snapshot: its counters at one moment, and numbers
// computed from them. The builder calls these functions with Session.draining
// held, so that no code is freed.
#ifndef OCULAR_TRACER_SESSION_FUNCTION_ROW_H
#define OCULAR_TRACER_SESSION_FUNCTION_ROW_H

#include "ipc/row_set.h"
#include "tracer/code/code.h"

#define RATE_WINDOW 0.5 // s, the shortest time that a rate is taken over

struct Session;

// The input for the figures of all functions.
struct Moment {
    struct Session *session;
    struct Registry *registry;
    uint64_t start_ticks;            // when tracing began
    double now;                      // s of CLOCK_MONOTONIC
    double started;                  // s of CLOCK_MONOTONIC when tracing began
    double hz;                       // ticks per second
    uint64_t ticks;                  // the present tick count
    const struct ShareTime *sampled; // NULL: there is no sampler
    bool sees;                       // there is a sampler that can read stacks
};

// Fills the row of a function. The row points into the arena. Returns false if
// memory is out.
bool FunctionRow_fill(struct Arena *arena, struct SharedRow *row,
                      struct Code *code, const struct Moment *at);
// Returns the tick count until which the row stays the same if no event comes,
// except for numbers that fade. UINT64_MAX means for ever, 0 that the row may
// change at once.
uint64_t FunctionRow_settled_until(const struct Function *f,
                                   const struct Code *code);

#endif
