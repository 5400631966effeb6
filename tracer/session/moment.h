// SPDX-License-Identifier: MIT
// struct Moment has the time of a snapshot and other data that all its rows
// need. The thread that builds the snapshot makes it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct Exceptions;
struct Session;

struct Moment {
    struct Session *session;
    struct Registry *registry;
    const struct Exceptions *exceptions;
    uint64_t start_ticks; // Ticks at which tracing began.
    double now; // CLOCK_MONOTONIC in seconds at the time of the snapshot.
    // CLOCK_MONOTONIC in seconds at which tracing began.
    double started;
    double hz;           // Ticks per second.
    const int64_t *cost; // Ticks of each kind of hook.
    uint64_t ticks;      // Time of the snapshot in ticks.
    // CPU time of the process in ns at the time of the snapshot.
    uint64_t cpu_ns;
    // Time of the sampler's newest step, or NULL if there is no sampler.
    const struct ShareTime *sampled;
    bool sees; // True if there is a sampler that can read stacks.
    // True if the sampler also knows which threads wait for the GIL.
    bool waits;
    bool ready; // True if the sampler knows how long threads wait for a CPU.
};
