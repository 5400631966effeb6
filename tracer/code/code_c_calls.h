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

// A reading of a thread's CPU time.
struct CReading {
    const struct ThreadTrace *thread; // Its record, or NULL if there is none.
    // Ticks of CPU time that the thread has used, and the part that hooks have
    // taken.
    double cpu, hooks;
    // A preemption makes intervals with fewer ticks of CPU time look longer
    // than they are.
    uint64_t brief;
    uint16_t taken; // Number of times that the kernel took the CPU.
    // True if `hooks` may contain time in which the thread waited since the
    // reading before.
    bool waited;
    // c_calls.c sets the number of entries of the calling function, and the
    // number of calls in the window.
    uint64_t entries;
    uint32_t hits;
};

// The time between two readings. `cpu` does not contain the ticks of hooks.
struct CInterval {
    double cpu, hooks, calls;
};

// Weighted sums, over closed windows, of the lengths in ticks, of the ticks
// that hooks took in addition, and of the squared errors. An error is the
// length of a window minus the length that earlier windows let expect.
struct CLength {
    _Atomic double ticks, hooks, errors;
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
    struct CReading reading; // The newest one in the open window.
    // Number of intervals between readings in the open window, their sum, and
    // the interval with the most CPU time per call.
    uint32_t intervals;
    struct CInterval all, slowest;
    // Calls since the newest reading, and its ticks, or 0 before the first
    // reading. A holder of the GIL writes `unread` and `read_ticks`.
    uint32_t unread;
    uint64_t read_ticks;
    bool cut; // True if a window ended in the middle of a call.
    // Weighted sum of the entries in closed windows, or 0 if a window was cut.
    _Atomic double entries;
    // The lengths of windows by the clock, and by the CPU time of threads.
    struct CLength clock, run;
    struct CPair *_Atomic pairs[C_CALLS_BUCKETS];
};
