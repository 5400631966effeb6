// SPDX-License-Identifier: MIT
// Once a second the timeline gets the values of its graphs: the overhead, how
// many hooks are in, each thread's CPU time; and the instructions that were
// specialised since. Whoever drains.
#ifndef OCULAR_TRACER_SESSION_COUNTERS_H
#define OCULAR_TRACER_SESSION_COUNTERS_H

#include "tracer/budget/account.h"
#include "tracer/code/transitions.h"
#include "tracer/hook/thread_trace.h"
#include "tracer/session/roll.h"
#include "tracer/timeline/timeline.h"

// The sources of the counters; all borrowed.
struct CounterSource {
    struct Account *account;
    struct Registry *registry;
    struct Roll *roll;
    struct Transitions *transitions;
    const struct Clock *clock;
};

struct Counters {
    struct CounterSource source;
    double then_s;   // of CLOCK_MONOTONIC, when it was last done, or the start
    uint64_t change; // the next one to tell of
    // While they are added.
    struct Timeline *timeline; // NULL: none is kept
    bool last;                 // nothing comes later: it is time
    bool due;
    unsigned ms;
    uint64_t ticks;
};

// Called before the threads are visited: adds the process's counters, if it is
// time. One thread at a time.
void Counters_begin(struct Counters *counters, struct Timeline *timeline);
// For each thread; one that has ended uses nothing from now on.
void Counters_add(struct Counters *counters, struct ThreadTrace *trace,
                  bool ended);

#endif
