// SPDX-License-Identifier: MIT
// How long a thread was kept from its CPU by others that had it, threads or
// other machines, asked of the kernel after a span that is too long to be all
// work. Time in which a thread waits by its own will is none of this. Each lane
// has one; its own thread asks.
#ifndef OCULAR_TRACER_PREEMPTION_H
#define OCULAR_TRACER_PREEMPTION_H

#include <stdbool.h>
#include <stdint.h>

#define PREEMPTION_BRIEF_NS 100000  // up to which nobody asks
#define PREEMPTION_READING_NS 10000 // what asking takes, at most, undisturbed

// A thread's, as the kernel counts them.
struct ThreadTimes {
    int64_t wall_ns, cpu_ns; // at the end of
    int64_t reading_ns;      // what it took to read them, by the wall
    int64_t waits;           // switches of context because it had to wait
    int64_t taken;           // and because another one was to run
};

struct Preemption {
    struct ThreadTimes then;
    bool known;
    // Where a thread is hardly ever kept from its CPU, asking is not worth it.
    bool calm;
    uint8_t spared;          // questions, since
    int64_t usual_ns;        // of the spans meanwhile that may be spared: the
                             // longest, lately
    double wall_ns, kept_ns; // since that was decided
};

// true: not this time. While all is calm two questions of sixty-four are asked,
// in turn: what is between two is known. Always asked about are spans that are
// more than twice as long as usual (the first that somebody else had the CPU
// in ends the calm) and those of a second and more.
bool Preemption_is_spared(struct Preemption *preemption, int64_t span_ns);
// What lies between is not known: of the next span only what is unusual is
// told.
static inline void Preemption_forget(struct Preemption *preemption)
{
    preemption->known = false;
}

// ns of the span that ends now, of `span_ns`, in which the calling thread was
// kept from its CPU; 0 where it has waited by its own will since it last asked.
// What the machine was suspended for is in it, too.
// Two system calls, some 0.7 us, and several for a thread that has slept.
int64_t Preemption_take(struct Preemption *preemption, int64_t span_ns);
// The same of two readings. Every span since the first that was not asked about
// was `brief_ns` long at most.
int64_t Preemption_between(const struct ThreadTimes *then,
                           const struct ThreadTimes *now, int64_t span_ns,
                           int64_t brief_ns);

#endif
