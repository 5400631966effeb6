// SPDX-License-Identifier: MIT
// struct Observer finds the functions in which threads wait, by reading the
// threads' stacks. The observer also finds out what threads without a CPU timer
// run, and whether stacks cannot be read. Only the sampler's thread calls these
// functions. Any thread may read the counters.
#pragma once

#include "tracer/sample/sampling.h"

struct Observer {
    struct Sampling *sampling; // Borrowed.
    struct Walk walk;
    struct WalkCopies copies;
    // Index, in the table of sampled threads, of the thread that is observed
    // next.
    size_t next;
    // Number of samples that observations have added in the observer's newest
    // step.
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
// Observes the thread at index `first` of the table of threads, unless the
// index is past the end, and after it the threads that come next in the table.
// Returns true if one of the observed threads has run, or if a thread that was
// not observed may have run.
bool Observer_observe_all(struct Observer *observer, size_t first,
                          const struct ShareTime *now);
// Notes after an observation whether stacks can still be read.
void Observer_note_reads(struct Observer *observer, uint64_t now_ns);
// Returns true if all reads of stacks have failed for some seconds.
bool Observer_is_denied(const struct Observer *observer);
// Tries again to read memory, and returns false if that still fails. If memory
// can be read again, forgets the clocks and the stacks that the threads had
// before, and returns true.
bool Observer_recover(struct Observer *observer, uint64_t now_ns);
