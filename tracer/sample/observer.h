// SPDX-License-Identifier: MIT
// struct Observer finds the functions in which threads wait, by reading the
// threads' stacks. The observer also attributes the CPU time of threads without
// a CPU timer, and finds out whether stacks cannot be read. Only the sampler's
// thread calls the functions of observer.h. Any thread may read the counters.
#pragma once

#include "tracer/sample/sampling.h"

struct Observer {
    struct Sampling *sampling; // Borrowed.
    struct Walk walk;
    struct WalkCopies copies;
    // Index, in the table of sampled threads, of the thread that is observed
    // next.
    size_t next;
    // Number of samples that the observer's newest step has added.
    uint64_t found;
    // True if only threads without a CPU timer ran during the newest step.
    bool alone;
    bool refused; // True if the newest stack could not be read.
    // CLOCK_MONOTONIC at which a stack was last read without failure.
    uint64_t readable_ns;
    counter_t untimed; // Number of threads that cannot have a timer.
    // 1 if no stack could be read for some seconds, otherwise 0.
    counter_t denied;
};

// Returns 0, or -EINVAL if the layout of CPython's frames is impossible.
int Observer_init(struct Observer *observer, struct Sampling *sampling,
                  const struct FrameLayout *layout);
// Observes the thread at index `first` of the table of threads, if the table
// has this index, and then the threads that come next in the table. Returns
// true if one of the observed threads has run, or if a thread that was not
// observed may have run.
bool Observer_observe_all(struct Observer *observer, size_t first,
                          const struct ShareTime *now);
// Observer_note_reads is called after each observation, and finds out whether
// stacks can still be read.
void Observer_note_reads(struct Observer *observer, uint64_t now_ns);
// Returns true if all reads of stacks have failed for some seconds.
bool Observer_is_denied(const struct Observer *observer);
// Tries again to read memory, and returns false if that still fails. If memory
// can be read again, forgets the threads' clocks and stacks from before, and
// returns true.
bool Observer_recover(struct Observer *observer, uint64_t now_ns);
