// SPDX-License-Identifier: MIT
// Fills in the exceptions in a snapshot. The thread that builds a snapshot
// calls the functions of exception_rows.h.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/hook/exceptions.h"
#include "tracer/session/moment.h"

// The rates of exceptions in the last snapshot, from which the next rates are
// computed.
struct ExceptionRates {
    double at_s; // CLOCK_MONOTONIC in seconds at the last snapshot.
    // Sum of the seconds over which rates are computed. Older seconds weigh
    // less.
    double all_s;
    struct ExceptionRate {
        // Value of ExceptionLabel.began in the kind's label, or 0 if there is
        // no label.
        uint64_t began;
        // Number of this kind's exceptions at the time `at_s`.
        double counts[EXCEPTION_ACTS];
        // Number of this kind's exceptions. Older exceptions weigh less.
        double weighted[EXCEPTION_ACTS];
    } kinds[EXCEPTION_KINDS];
};

// Fills in the list of all kinds of exceptions, the newest kind first, and the
// sums over all kinds.
void ExceptionRows_fill(struct Snapshot *snapshot, struct ExceptionRates *rates,
                        const struct Moment *at);
// Returns a number that changes if exceptions are from now on counted,
// estimated or unknown.
uint8_t ExceptionRows_state(const struct Moment *at);
// Fills in the number of exceptions that began in a function.
void ExceptionRows_fill_function(struct Function *f, const struct Code *code,
                                 const struct Moment *at);
