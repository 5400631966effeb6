// SPDX-License-Identifier: MIT
// The time that other programs had a thread's CPU. If they take it often, a
// hook asks the kernel at the end of each long span, since such a span may not
// be all work. Time in which a thread waits is not counted here. Each record
// has a struct Preemption, which its own thread uses; the governor has the
// PreemptionRate.
#ifndef OCULAR_TRACER_HOOK_PREEMPTION_H
#define OCULAR_TRACER_HOOK_PREEMPTION_H

#include <stdbool.h>
#include <stdint.h>

#define PREEMPTION_BRIEF_NS 100000       // shorter spans are believed
#define PREEMPTION_STOPPED_NS 1000000000 // after such a span a hook always asks

// A thread's, as the kernel counts them.
struct ThreadTimes {
    int64_t wall_ns, cpu_ns; // at the end of the reading
    int64_t reading_ns;      // of the wall clock that the reading took
    int64_t waits;           // context switches because the thread had to wait
    int64_t taken;           // context switches because another one was to run
};

struct Preemption {
    struct ThreadTimes then; // the newest reading
    bool known;              // every long span since was asked about
    uint8_t skips;           // long spans to come that nobody asks about
    uint8_t next_skips;      // ... after the next in which the thread waits
    uint32_t armed;          // see Preemption_note_armed
    int64_t suspended_ns;    // of the machine since its start, when last read
};

// If a thread sleeps in its spans, an answer says nothing, and asking costs up
// to 10 us after each sleep. A thread that waits once, for the interpreter,
// does not count as sleeping: after each wait in a row about twice as many
// spans are skipped, up to this number.
#define PREEMPTION_SKIPS 15

// For a thread that begins now.
void Preemption_init(struct Preemption *preemption);
// A long span was not asked about.
static inline void Preemption_forget(struct Preemption *preemption)
{
    preemption->known = false;
}

// Called with the number of times that code has been armed. A thread waits for
// the arming, and while code is dark its spans have many waits in them: neither
// is sleeping. Few calls follow, and one preemption is longer than all of them.
static inline void Preemption_note_armed(struct Preemption *preemption,
                                         uint32_t armed)
{
    if (preemption->armed == armed)
        return;
    preemption->armed = armed;
    preemption->skips = preemption->next_skips = 0;
    Preemption_forget(preemption);
}

// true: not this long span.
static inline bool Preemption_skip(struct Preemption *preemption)
{
    if (!preemption->skips)
        return false;
    preemption->skips--;
    return true;
}

// ns of the span that ends now, of `span_ns`, in which other programs had the
// calling thread's CPU; 0 if the thread has waited since it last asked; or
// in which the machine was suspended. Two system calls, some 0.7 us, and
// several for a thread that has slept.
int64_t Preemption_measure(struct Preemption *preemption, int64_t span_ns);
// The same of two readings.
int64_t Preemption_between(const struct ThreadTimes *then,
                           const struct ThreadTimes *now, int64_t span_ns);

// The rate at which the kernel takes the CPU from the process's threads.
struct PreemptionRate {
    double since_s; // of CLOCK_MONOTONIC: the newest reading
    int64_t taken;  // until then
};

// Was that more than PREEMPTION_OFTEN times a second since the call before? A
// system call that adds up all threads of the process: 0.5 us for a few. The
// first call says yes.
#define PREEMPTION_OFTEN 20.0
bool PreemptionRate_is_high(struct PreemptionRate *rate, double now_s);
// The same of a reading.
bool PreemptionRate_exceeds(struct PreemptionRate *rate, double now_s,
                            int64_t taken);

#endif
