// SPDX-License-Identifier: MIT
// struct CCalls contains the C functions that a function calls. A thread that
// holds the GIL adds pairs and writes `newest`. The sampler writes
// `unattributed`. A holder of the counting lock writes all other members. Any
// thread may read the atomic members in an RCU read section.
#pragma once

#include "tracer/base/counter.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define C_CALLS_BUCKETS 16

struct ThreadTrace;

// A call instruction and a C function that it has called.
struct CPair {
    struct CPair *_Atomic next; // The next pair in the same bucket.
    uint32_t id;                // Id of the C function. Immutable.
    uint16_t number;            // Number of the instruction. Immutable.
    // True if the instruction's newest event reported this C function.
    _Atomic bool newest;
    // True if a window has ended since the pair was added.
    _Atomic bool counted;
    // Weighted number of calls in closed windows.
    _Atomic double calls;
    uint32_t open; // Number of calls in the open window.
    // Number of exceptions that the calls have raised. A holder of the GIL
    // writes `raised`.
    counter_t raised;
    // Number of samples that the pair should have got minus the number that it
    // got. Only the sampler uses `unattributed`.
    double unattributed;
};

enum CWindow {
    // While no window is open, the hooks of call instructions remove
    // themselves.
    C_SHUT,
    C_FIRST, // The window opens at the next call of a C function.
    C_OPEN
};

// Sums for rows (session/c_rates.h). Only the thread that builds snapshots uses
// struct CSums.
struct CSums {
    // Estimated number of calls of a function that calls C functions, and the
    // seconds of CLOCK_MONOTONIC of the estimate. `estimated` and `estimated_s`
    // are set when the function's row is filled.
    double estimated, estimated_s;
    // Calls per second of a C function, the square of their standard error, and
    // the numbers of calls and of exceptions.
    double rate, variance, calls, raised;
    // The parts of `calls` and `raised` of calling functions that were freed.
    double gone_calls, gone_raised;
    bool known;   // True if some calls of the C function were counted.
    bool guessed; // True if a part of the rate was not counted in a window.
    // True if the call rate of one of the C function's callers is unknown.
    bool lacks;
};

struct CCalls {
    struct CSums sums;
    _Atomic uint8_t window; // enum CWindow. Hooks read `window`.
    // Number of calls in the open window, and the number after which it may
    // end.
    uint32_t hits, most;
    // Number of calls of Python functions in the window, by instructions that
    // also call C functions. A holder of the GIL writes `others`.
    uint32_t others;
    uint64_t from_entries;  // Entries at the beginning of the window.
    uint64_t entries_then;  // Entries at the newest call of a C function.
    uint64_t from_ticks;    // Ticks at the beginning of the window.
    _Atomic uint64_t begun; // Ticks at the beginning of the first window, or 0.
    uint64_t paid;          // Ticks that hooks took in the open window.
    // The thread record of the newest call in the open window, or NULL, and the
    // ticks that hooks had taken in this thread then.
    const struct ThreadTrace *payer;
    uint64_t payer_paid;
    bool cut; // True if a window ended in the middle of a call.
    // Weighted sums, over closed windows, of the entries, of the lengths in
    // ticks, and of the squared errors. An error is the length of a window
    // minus the length that earlier windows let expect. `entries` is 0 if a
    // window was cut. `hooks` is the sum of the ticks that hooks took, which
    // `ticks` does not contain.
    _Atomic double entries, ticks, errors, hooks;
    struct CPair *_Atomic pairs[C_CALLS_BUCKETS];
};
