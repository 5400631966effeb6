// SPDX-License-Identifier: MIT
// Observes the stacks of event loops' threads whose steps take long, so that a
// stall has a function and a line even if its thread waits. While steps run,
// the sampler's thread wakes up often enough to find each step that becomes a
// stall. While no step runs, the next step wakes the thread.
#ifndef OCULAR_TRACER_SAMPLE_STALL_WATCH_H
#define OCULAR_TRACER_SAMPLE_STALL_WATCH_H

#include "tracer/base/clock.h"
#include "tracer/sample/attribution.h"
#include "tracer/sample/event_loops.h"

struct StallWatch {
    struct EventLoops *loops; // borrowed, as are all pointers; NULL: no watch
    const struct Attribution *attribution;
    struct Walk *walk;
    const struct Clock *clock;
    uint64_t due_ns; // CLOCK_MONOTONIC of the next turn; UINT64_MAX: none
    bool slept;      // true if the next step wakes the thread
    // A turn begins with the loop of the number `first`. The turn may still
    // observe `left` loops.
    unsigned first, left;
    uint64_t steps; // steps that had begun at the last turn
    uint64_t news;  // loops and stalls that had begun at the last turn
    // CLOCK_MONOTONIC until which loops are observed closely.
    uint64_t close_until_ns;
};

// Observes the loops if that is due at `now_ns` of CLOCK_MONOTONIC. Returns the
// time of the next turn, or UINT64_MAX if the next step wakes the thread. Only
// the sampler's thread calls this function.
uint64_t StallWatch_step(struct StallWatch *watch, uint64_t now_ns);

#endif
