// SPDX-License-Identifier: MIT
// struct Counters adds values to the timeline's graphs once a second: the
// overhead, the number of installed hooks, and each thread's CPU time. It also
// adds the instructions whose specialised form has changed. The thread that
// empties the rings calls these functions.
#ifndef OCULAR_TRACER_SESSION_COUNTERS_H
#define OCULAR_TRACER_SESSION_COUNTERS_H

#include "tracer/budget/account.h"
#include "tracer/code/transitions.h"
#include "tracer/hook/thread_trace.h"
#include "tracer/session/roll.h"
#include "tracer/timeline/timeline.h"

// The sources of the values. All pointers are borrowed.
struct CounterSource {
    struct Account *account;
    struct Registry *registry;
    struct Roll *roll;
    struct Transitions *transitions;
    const struct Clock *clock;
};

struct Counters {
    struct CounterSource source;
    // CLOCK_MONOTONIC in seconds at which values were last added, or at the
    // start.
    double then_s;
    // Number of the next change of an instruction that must be added.
    uint64_t change;
    // Counters_begin sets the members from `timeline` on.
    struct Timeline *timeline; // NULL if there is no timeline.
    bool last; // True before the last turn, in which values are added early.
    bool due;
    unsigned ms;
    uint64_t ticks;
};

// Adds the process's values, if a second has passed. Must be called before
// Counters_add. Only one thread at a time may call Counters_begin or
// Counters_add.
void Counters_begin(struct Counters *counters, struct Timeline *timeline);
// Adds a thread's CPU time. `ended` is true if the thread has ended and uses no
// more CPU time.
void Counters_add(struct Counters *counters, struct ThreadTrace *trace,
                  bool ended);

#endif
