// SPDX-License-Identifier: MIT
// Computes the calls per second of C functions if there is a budget. Without a
// budget all calls are counted. The rate of a C function is the sum, over the
// functions that call it, of the C calls of one entry (c_calls.h) times the
// calling function's entries per second. The thread that builds snapshots calls
// the functions of c_rates.h.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/code/c_calls.h"
#include "tracer/session/moment.h"

// Computes the rates of all C functions (struct CSums). The rows of all other
// functions must have been filled before.
void CRates_update(const struct Moment *at);
// Keeps the exceptions and calls in C functions of a function that will be
// freed.
void CRates_retire(struct Registry *registry, const struct Code *code);
// For a C function, fills in the exceptions, and if not all calls are counted,
// the calls and cycles. For a function that calls C functions, stores the
// number of its calls that its row has.
void CRates_fill(struct Function *f, const struct Code *code,
                 const struct Moment *at);
