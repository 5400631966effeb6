// SPDX-License-Identifier: MIT
// Computes the calls per second of C functions if there is a budget. The rate
// of a C function is the sum over the functions that call it: the C calls of
// one entry (c_calls.h), multiplied by the function's entries per second. The
// thread that builds snapshots calls these functions.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/code/c_calls.h"
#include "tracer/session/moment.h"

// Computes the rates of all C functions (struct CSums). The rows of all other
// functions have been filled.
void CRates_update(const struct Moment *at);
// Fills the exceptions of a C function, and its calls and cycles if not all
// calls are counted. Notes the number of calls in the row of a function that
// calls C functions.
void CRates_fill(struct Function *f, const struct Code *code,
                 const struct Moment *at);
