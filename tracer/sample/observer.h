// SPDX-License-Identifier: MIT
// Observes threads: the functions in which they wait, and those that they run
// if there is no timer: walks their stacks, and knows whether anything can be
// read at all. The sampler's thread; its counters may be read by anyone.
#ifndef OCULAR_TRACER_SAMPLE_OBSERVER_H
#define OCULAR_TRACER_SAMPLE_OBSERVER_H

#include "tracer/sample/sampling.h"

struct Observer {
    struct Sampling *sampling; // borrowed
    struct Walk walk;
    struct WalkCopies copies;
    size_t next;          // Index in the table of the thread whose turn it is.
    uint64_t found;       // Samples by observation in the newest step.
    bool alone;           // In that step only threads without a timer ran.
    bool refused;         // The newest stack could not be read.
    uint64_t readable_ns; // Time of the newest stack that could be read.
    counter_t untimed;    // Threads that can have no timer.
    counter_t denied;     // 1: no stack could be read for some seconds.
};

// 0, or -EINVAL for a layout that cannot be.
int Observer_init(struct Observer *observer, struct Sampling *sampling,
                  const struct FrameLayout *layout);
// The threads whose turn it is. Returns whether one ran, or may have.
bool Observer_observe_all(struct Observer *observer,
                          const struct ShareTime *now);
// After an observation: nothing can be read any more, or again.
void Observer_note_reads(struct Observer *observer, uint64_t now_ns);
// Nothing can be read for some seconds.
bool Observer_is_denied(const struct Observer *observer);
// Tries again. False: reads are still denied. Else all that is known of threads
// is of before.
bool Observer_recover(struct Observer *observer, uint64_t now_ns);

#endif
