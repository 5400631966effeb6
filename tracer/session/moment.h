// SPDX-License-Identifier: MIT
// A moment has the data that all rows of one snapshot need. The builder makes
// the moment, on the thread that builds the snapshot.
#ifndef OCULAR_TRACER_SESSION_MOMENT_H
#define OCULAR_TRACER_SESSION_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

struct Exceptions;
struct Session;

struct Moment {
    struct Session *session;
    struct Registry *registry;
    const struct Exceptions *exceptions;
    uint64_t start_ticks; // ticks at which tracing began
    double now;           // time of the snapshot in seconds of CLOCK_MONOTONIC
    // time at which tracing began, in seconds of CLOCK_MONOTONIC
    double started;
    double hz;                       // ticks per second
    uint64_t ticks;                  // present time in ticks
    uint64_t cpu_ns;                 // present CPU time of the process
    const struct ShareTime *sampled; // NULL if there is no sampler
    bool sees;  // true if there is a sampler that can read stacks
    bool waits; // true if it is also known which threads wait for the GIL
};

#endif
