// SPDX-License-Identifier: MIT
// What the program pays when one of our threads takes its CPU or its
// interpreter for a moment: the timer's interrupt and two switches of context,
// which the kernel charges to whoever was interrupted. Measured by the sampler
// on its own thread, once; counted by whoever reads the account.
#ifndef OCULAR_TRACER_INTERRUPTION_H
#define OCULAR_TRACER_INTERRUPTION_H

#include <stdint.h>

// Of one interruption: s of CPU time, the median of some. 0 where it cannot be
// known: no memory for a thread, no CPU in time, or, where system calls are
// filtered, two CPUs (both threads are kept to one else, for as long as that
// takes). Takes about 4 ms, 50 at most; not with the interpreter's lock.
// *cpu_ns: what the second thread has used of that.
double Interruption_measure(uint64_t *cpu_ns);

// Sums since the trace began.
struct InterruptionCounts {
    uint64_t switches; // of context that the process's threads did not want
    uint64_t wakeups;  // of our threads
    uint64_t forced;   // times the interpreter was taken from who had it
};

struct Interruptions {
    struct InterruptionCounts last;
    uint64_t count;
};

// Begins with those counts.
void Interruptions_init(struct Interruptions *all,
                        const struct InterruptionCounts *counts);
// The next counts. A wake-up has interrupted the program only if a thread was
// switched away from: there are at most as many as of either.
void Interruptions_read(struct Interruptions *all,
                        const struct InterruptionCounts *counts);

#endif
