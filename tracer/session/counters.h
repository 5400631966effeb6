// SPDX-License-Identifier: MIT
// Once a second, adds values to the timeline's graphs. The graphs are the
// overhead, the number of hooks that are set, and each thread's CPU time. Also
// adds the instructions that were specialised since the last addition. The
// thread that drains the rings calls these functions.
#ifndef OCULAR_TRACER_SESSION_COUNTERS_H
#define OCULAR_TRACER_SESSION_COUNTERS_H

#include "tracer/budget/account.h"
#include "tracer/code/transitions.h"
#include "tracer/hook/thread_trace.h"
#include "tracer/session/roll.h"
#include "tracer/timeline/timeline.h"

// Holds the sources of the counters. All pointers are borrowed.
struct CounterSource {
    struct Account *account;
    struct Registry *registry;
    struct Roll *roll;
    struct Transitions *transitions;
    const struct Clock *clock;
};

struct Counters {
    struct CounterSource source;
    // Time in seconds of CLOCK_MONOTONIC at which counters were last added, or
    // at the start.
    double then_s;
    uint64_t change; // number of the next change to add
    // Counters_begin sets the next fields.
    struct Timeline *timeline; // NULL if there is no timeline
    bool last; // true before the last turn, when counters are added early
    bool due;
    unsigned ms;
    uint64_t ticks;
};

// Adds the process's counters, if a second has passed. Counters_begin must be
// called before Counters_add. Only one thread at a time may call Counters_begin
// or Counters_add.
void Counters_begin(struct Counters *counters, struct Timeline *timeline);
// Adds a thread's CPU time. A thread that has ended uses no more CPU time.
void Counters_add(struct Counters *counters, struct ThreadTrace *trace,
                  bool ended);

#endif
