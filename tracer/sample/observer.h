// SPDX-License-Identifier: MIT
// Walks the stacks of threads to find the functions in which the threads wait.
// For a thread without a timer, also finds the functions that the thread runs.
// Detects if no stack can be read. Only the sampler's thread calls this code.
// Any thread may read the counters.
#ifndef OCULAR_TRACER_SAMPLE_OBSERVER_H
#define OCULAR_TRACER_SAMPLE_OBSERVER_H

#include "tracer/sample/sampling.h"

struct Observer {
    struct Sampling *sampling; // borrowed
    struct Walk walk;
    struct WalkCopies copies;
    size_t next; // Index in the table of the thread that is observed next.
    // Number of samples that observations made in the newest step.
    uint64_t found;
    bool alone; // True if in the newest step only threads without a timer ran.
    bool refused;         // True if the newest stack could not be read.
    uint64_t readable_ns; // Time of the newest stack that could be read.
    counter_t untimed;    // Number of threads that cannot have a timer.
    // 1 if no stack could be read for some seconds, otherwise 0.
    counter_t denied;
};

// Returns 0, or -EINVAL for an impossible layout.
int Observer_init(struct Observer *observer, struct Sampling *sampling,
                  const struct FrameLayout *layout);
// Observes the thread at the place `first` in the table, if the table has such
// a place, and then the threads whose turn it is. Returns true if a thread ran
// or may have run.
bool Observer_observe_all(struct Observer *observer, size_t first,
                          const struct ShareTime *now);
// Stores after an observation whether stacks can still be read.
void Observer_note_reads(struct Observer *observer, uint64_t now_ns);
// Returns true if no stack could be read for some seconds.
bool Observer_is_denied(const struct Observer *observer);
// Tries to read again, and returns false if reads are still denied. If reads
// work again, forgets the earlier clocks and stacks of all threads, and returns
// true.
bool Observer_recover(struct Observer *observer, uint64_t now_ns);

#endif
