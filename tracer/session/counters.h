// SPDX-License-Identifier: MIT
// Once a second, struct Counters adds the overhead, the number of installed
// hooks, and each thread's CPU time to the timeline's graphs. struct Counters
// also adds to the timeline the instructions whose specialised form has
// changed. The thread that empties the rings calls the functions of counters.h.
#pragma once

#include "tracer/budget/account.h"
#include "tracer/code/transitions.h"
#include "tracer/hook/thread_trace.h"
#include "tracer/session/roll.h"
#include "tracer/timeline/timeline.h"

// The sources of the graphs' values. struct CounterSource owns none of its
// pointers.
struct CounterSource {
    struct Account *account;
    struct Registry *registry;
    struct Roll *roll;
    struct Transitions *transitions;
    const struct Clock *clock;
};

struct Counters {
    struct CounterSource source;
    // CLOCK_MONOTONIC in seconds when values were last added to the graphs, or
    // at the start.
    double then_s;
    // Number of the next change of an instruction to add to the timeline.
    uint64_t change;
    // Counters_begin sets `timeline` and the fields below it.
    struct Timeline *timeline; // NULL if there is no timeline.
    // True before the collector's last turn, in which values are added although
    // less than a second has passed.
    bool last;
    bool due;
    unsigned ms;
    uint64_t ticks;
};

// If a second has passed, adds the values of the graphs that are about the
// whole process. Must be called before Counters_add. Only one thread at a time
// may call Counters_begin or Counters_add.
void Counters_begin(struct Counters *counters, struct Timeline *timeline);
// Adds a thread's CPU time to the thread's graph. `ended` is true if the thread
// has ended and uses no more CPU time.
void Counters_add(struct Counters *counters, struct ThreadTrace *trace,
                  bool ended);
