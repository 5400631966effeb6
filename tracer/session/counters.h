// SPDX-License-Identifier: MIT
// Adds the values of the timeline's graphs once a second: the overhead, the
// number of hooks that are in, and each thread's CPU time; also the
// instructions that were specialised since. The thread that drains the rings
// calls these functions.
#ifndef OCULAR_TRACER_SESSION_COUNTERS_H
#define OCULAR_TRACER_SESSION_COUNTERS_H

#include "tracer/budget/account.h"
#include "tracer/code/transitions.h"
#include "tracer/hook/thread_trace.h"
#include "tracer/session/roll.h"
#include "tracer/timeline/timeline.h"

// The sources of the counters; all are borrowed.
struct CounterSource {
    struct Account *account;
    struct Registry *registry;
    struct Roll *roll;
    struct Transitions *transitions;
    const struct Clock *clock;
};

struct Counters {
    struct CounterSource source;
    // Seconds of CLOCK_MONOTONIC when counters were last added, or at the
    // start.
    double then_s;
    uint64_t change; // number of the next change to add
    // The members below are set by Counters_begin:
    struct Timeline *timeline; // NULL: there is no timeline
    bool last; // set before the last turn: counters are added early
    bool due;
    unsigned ms;
    uint64_t ticks;
};

// Adds the process's counters, if a second has passed. Call this before
// Counters_add. Only one thread at a time may call this.
void Counters_begin(struct Counters *counters, struct Timeline *timeline);
// Adds a thread's CPU time. A thread that has ended uses none from now on.
void Counters_add(struct Counters *counters, struct ThreadTrace *trace,
                  bool ended);

#endif
