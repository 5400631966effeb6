// SPDX-License-Identifier: MIT
// Fills the exceptions of a snapshot. The thread that builds a snapshot calls
// these functions.
#ifndef OCULAR_TRACER_SESSION_EXCEPTION_ROWS_H
#define OCULAR_TRACER_SESSION_EXCEPTION_ROWS_H

#include "ipc/snapshot.h"
#include "tracer/hook/exceptions.h"
#include "tracer/session/moment.h"

// Rates of the last snapshot, from which the next rates are computed.
struct ExceptionRates {
    double at_s;  // time of the last snapshot in seconds of CLOCK_MONOTONIC
    double all_s; // weighted seconds of the window
    struct ExceptionRate {
        uint64_t began;                  // of the label; 0: none
        double counts[EXCEPTION_ACTS];   // at `at_s`
        double weighted[EXCEPTION_ACTS]; // exceptions in the window
    } kinds[EXCEPTION_KINDS];
};

// Fills the list of kinds, the newest kind first, and the sums. Returns false
// if memory is out.
bool ExceptionRows_fill(struct Snapshot *snapshot, struct ExceptionRates *rates,
                        const struct Moment *at);
// Returns a number that changes if the exceptions of all functions become
// known, estimated or unknown.
uint8_t ExceptionRows_state(const struct Moment *at);
// Fills the number of exceptions that a function has raised.
void ExceptionRows_fill_function(struct Function *f, const struct Code *code,
                                 const struct Moment *at);

#endif
