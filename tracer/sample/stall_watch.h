// SPDX-License-Identifier: MIT
// struct StallWatch observes the stacks of event loops whose running step takes
// long. For each stall, a function and a line are therefore known, even if the
// loop's thread sleeps. While steps run, the sampler's thread wakes up often
// enough to observe each step before it becomes a stall. While no step runs,
// the sampler's thread sleeps until the next step wakes it.
#pragma once

#include "tracer/base/clock.h"
#include "tracer/sample/attribution.h"
#include "tracer/sample/event_loops.h"

struct StallWatch {
    // Event loops to observe, or NULL if none are observed. struct StallWatch
    // owns none of its pointers.
    struct EventLoops *loops;
    const struct Attribution *attribution;
    struct Walk *walk;
    const struct Clock *clock;
    // CLOCK_MONOTONIC in ns at which event loops must be observed next, or
    // UINT64_MAX if the next step must wake the thread.
    uint64_t due_ns;
    // True if the next step of an event loop must wake the sampler's thread.
    bool slept;
    // Number of the event loop with which a turn begins, and number of loops
    // that the turn may still observe.
    unsigned first, left;
    // Number of steps that had begun in all event loops when they were last
    // observed.
    uint64_t steps;
    // Number of event loops plus number of stalls, when loops were last
    // observed.
    uint64_t news;
    // CLOCK_MONOTONIC in ns until which event loops are observed often.
    uint64_t close_until_ns;
};

// Fills `place` from the frames of a thread's stack, the innermost first, that
// were read when the registry's newest id was `newest`.
void StallPlace_fill(struct StallPlace *place,
                     const struct Attribution *attribution,
                     const struct WalkFrame *frames, unsigned depth,
                     uint32_t newest);
// Observes the event loops if an observation is due at `now_ns` of
// CLOCK_MONOTONIC. Returns CLOCK_MONOTONIC in ns at which StallWatch_step must
// be called next, or UINT64_MAX if the next step of a loop must wake the
// thread. Only the sampler's thread calls StallWatch_step.
uint64_t StallWatch_step(struct StallWatch *watch, uint64_t now_ns);
