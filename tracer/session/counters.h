// SPDX-License-Identifier: MIT
// Once a second the timeline gets what a graph is drawn of: the overhead, how
// many hooks are in, each thread's CPU time; and the instructions that were
// specialised since. The collector's thread, as it drains.
#ifndef OCULAR_TRACER_SESSION_COUNTERS_H
#define OCULAR_TRACER_SESSION_COUNTERS_H

#include "tracer/budget/account.h"
#include "tracer/code/transitions.h"
#include "tracer/hook/thread_trace.h"
#include "tracer/timeline/timeline.h"

// Where they come from; all borrowed.
struct CounterSource {
    struct Account *account;
    struct Registry *registry;
    struct Transitions *transitions;
    const struct Clock *clock;
};

struct Counters {
    struct CounterSource source;
    double then_s;   // of CLOCK_MONOTONIC, when it was last done; 0: never
    uint64_t change; // the next one to tell of
    // While they are added.
    struct Timeline *timeline; // NULL: it is not time
    bool first;
    struct Track *teller; // who has what is the process's; NULL: nobody yet
    unsigned ms;
    uint64_t ticks;
    double overhead; // share of the program's CPU time; NaN: not known
    double armed;    // hooks that are in
};

// Before the threads are visited: is it time?
void Counters_begin(struct Counters *counters, struct Timeline *timeline);
// For each thread that has a track, after its ring was drained; one thread at a
// time.
void Counters_add(struct Counters *counters, struct ThreadTrace *trace);

#endif
