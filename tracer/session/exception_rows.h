// SPDX-License-Identifier: MIT
// Fills the exceptions in a snapshot. The thread that builds a snapshot calls
// these functions.
#ifndef OCULAR_TRACER_SESSION_EXCEPTION_ROWS_H
#define OCULAR_TRACER_SESSION_EXCEPTION_ROWS_H

#include "ipc/snapshot.h"
#include "tracer/hook/exceptions.h"
#include "tracer/session/moment.h"

// The rates of exceptions in the last snapshot, from which the next rates are
// computed.
struct ExceptionRates {
    double at_s;  // CLOCK_MONOTONIC in seconds at the last snapshot.
    double all_s; // Weighted seconds of the window.
    struct ExceptionRate {
        // ExceptionLabel.began of the kind's label; 0 if there is none.
        uint64_t began;
        // Number of exceptions at the time `at_s`.
        double counts[EXCEPTION_ACTS];
        // Weighted number of exceptions in the window.
        double weighted[EXCEPTION_ACTS];
    } kinds[EXCEPTION_KINDS];
};

// Fills the list of kinds, the newest kind first, and the sums over all kinds.
// Returns false if there is no memory.
bool ExceptionRows_fill(struct Snapshot *snapshot, struct ExceptionRates *rates,
                        const struct Moment *at);
// Returns a number that changes if the exceptions of all functions become
// known, estimated or unknown.
uint8_t ExceptionRows_state(const struct Moment *at);
// Fills the number of exceptions that began in a function.
void ExceptionRows_fill_function(struct Function *f, const struct Code *code,
                                 const struct Moment *at);

#endif
