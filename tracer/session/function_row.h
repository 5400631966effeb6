// SPDX-License-Identifier: MIT
// Makes a function's row in a snapshot. A row has the function's counters at
// the time of the snapshot, and numbers that are computed from these counters.
// The builder calls the functions of function_row.h with Session.draining held,
// so that no code is freed.
#pragma once

#include "ipc/row_set.h"
#include "tracer/code/code.h"
#include "tracer/session/moment.h"

// Smallest number of seconds over which a rate is computed.
#define RATE_WINDOW 0.5
// Calls of the program's own functions are counted for RATE_MOST seconds, or
// until there are RATE_CALLS calls.
#define RATE_MOST 10.0
#define RATE_CALLS 32.0

// Fills the row of a function. The row points to texts and lists in the arena.
void FunctionRow_fill(struct Arena *arena, struct SharedRow *row,
                      struct Code *code, const struct Moment *at);
// Returns the time in ticks until which the row stays the same if the function
// has no event. Only numbers that decay with time may change earlier.
// UINT64_MAX means for ever, and 0 means that the row may change at once.
uint64_t FunctionRow_settled_until(const struct Function *f,
                                   const struct Code *code);
