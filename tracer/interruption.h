// SPDX-License-Identifier: MIT
// What the program pays when one of our threads takes its CPU or its
// interpreter for a moment: the timer's interrupt and two switches of context,
// which the kernel charges to whoever was interrupted. Measured by the sampler
// on its own thread, now and then, since it takes twice as long in a machine's
// slow phases; counted by whoever reads the account.
#ifndef OCULAR_TRACER_INTERRUPTION_H
#define OCULAR_TRACER_INTERRUPTION_H

#include <stdbool.h>
#include <stdint.h>

// Of one interruption: s of CPU time, the median of some. 0 where it cannot be
// known: no memory for a thread, no CPU in time, or, where system calls are
// filtered, two CPUs (both threads are kept to one else, for as long as that
// takes). Takes about 4 ms, 50 at most; not with the interpreter's lock.
// *cpu_ns: what the second thread has used of that.
double Interruption_measure(uint64_t *cpu_ns);

// When to measure. Who uses it lends its own clock (ns since it began) and the
// number of its wake-ups.
struct InterruptionPlan {
    double measured_ns;
    double pause_ns;
    uint64_t measured; // wake-ups by then
};

// First after 3 s: who ends before that does not pay for it. Later, 10 s after
// the newest one, where there were 1 000 wake-ups since: for fewer, measuring
// would cost more than it sets right. After failures in turn ever later, up to
// 10 minutes: some take longer than any other.
bool InterruptionPlan_is_due(const struct InterruptionPlan *plan, double now_ns,
                             uint64_t wakeups);
void InterruptionPlan_done(struct InterruptionPlan *plan, double now_ns,
                           uint64_t wakeups, bool known);

// Sums since the trace began.
struct InterruptionCounts {
    uint64_t switches; // of context that the process's threads did not want
    uint64_t wakeups;  // of our threads, while it may have run
    uint64_t forced;   // times the interpreter was taken from who had it
};

struct Interruptions {
    struct InterruptionCounts last;
    uint64_t unpriced; // what came before a price was known, of 1 500 at most
    double cost_s;     // of all others
};

// Begins with those counts.
void Interruptions_init(struct Interruptions *all,
                        const struct InterruptionCounts *counts);
// The next counts. A wake-up has interrupted the program only if a thread was
// switched away from: there are at most as many as of either. (The ten or so
// that measuring takes are among the switches: 0.2 ms in 10 s at most.) Each
// costs each_s (s, 0: not known yet); what was paid for stays at its price.
void Interruptions_read(struct Interruptions *all,
                        const struct InterruptionCounts *counts, double each_s);

#endif
