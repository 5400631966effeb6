// SPDX-License-Identifier: MIT
// Measures the time in which other programs had a thread's CPU. If other
// programs take the CPU often, a hook asks the kernel at the end of each long
// span, because a part of the span may be theirs. Time in which a thread waits
// is not counted here. Each record has a struct Preemption, which only its own
// thread uses. The governor owns the PreemptionRate.
#ifndef OCULAR_TRACER_HOOK_PREEMPTION_H
#define OCULAR_TRACER_HOOK_PREEMPTION_H

#include <stdbool.h>
#include <stdint.h>

#define PREEMPTION_BRIEF_NS 100000       // shorter spans are not checked
#define PREEMPTION_STOPPED_NS 1000000000 // longer spans are always checked

// The times and context switches of a thread, as the kernel counts them.
struct ThreadTimes {
    int64_t wall_ns, cpu_ns; // clocks at the end of the reading
    int64_t reading_ns;      // wall-clock time of the reading
    int64_t waits;           // context switches because the thread waited
    int64_t taken; // context switches because another thread was to run
};

struct Preemption {
    struct ThreadTimes then; // the newest reading
    bool known;              // every long span since `then` was checked
    uint8_t skips;           // number of next long spans without a check
    uint8_t next_skips;      // value of `skips` after the next wait
    uint32_t armed;          // see Preemption_note_armed
    int64_t suspended_ns;    // suspended time of the machine, as last read
};

// The largest number of long spans that are skipped. If a thread sleeps in its
// spans, a check says nothing and costs up to 10 us after each sleep. A single
// wait, as for the GIL, does not count as sleeping. After each further wait in
// a row about twice as many spans are skipped.
#define PREEMPTION_SKIPS 15

// Initialises the struct for a thread that begins now.
void Preemption_init(struct Preemption *preemption);
// Notes that a long span was not checked.
static inline void Preemption_forget(struct Preemption *preemption)
{
    preemption->known = false;
}

// `armed` is the number of times that code has been armed. A new number ends
// the skipping of spans. A thread waits for the arming, and waits often while
// code is dark, but neither means that the thread sleeps. Only few calls follow
// an arming, and one preemption lasts longer than all of these calls.
static inline void Preemption_note_armed(struct Preemption *preemption,
                                         uint32_t armed)
{
    if (preemption->armed == armed)
        return;
    preemption->armed = armed;
    preemption->skips = preemption->next_skips = 0;
    Preemption_forget(preemption);
}

// Returns true if this long span should not be checked.
static inline bool Preemption_skip(struct Preemption *preemption)
{
    if (!preemption->skips)
        return false;
    preemption->skips--;
    return true;
}

// Returns the ns of the span that ends now in which other programs had the
// calling thread's CPU, or in which the machine was suspended. `span_ns` is the
// length of the span. Returns 0 if the thread has waited since the last call.
// Two system calls take some 0.7 us, or several us if the thread has slept.
int64_t Preemption_measure(struct Preemption *preemption, int64_t span_ns);
// Returns the ns of a span of `span_ns` in which other programs had the CPU,
// from a reading before the span and a reading at its end.
int64_t Preemption_between(const struct ThreadTimes *then,
                           const struct ThreadTimes *now, int64_t span_ns);

// The rate at which the kernel takes the CPU from the process's threads.
struct PreemptionRate {
    double since_s; // CLOCK_MONOTONIC at the newest reading
    int64_t taken;  // involuntary context switches until then
};

// Returns true if the kernel took the CPU more than PREEMPTION_OFTEN times a
// second since the last call. The first call returns true. The system call adds
// up all threads of the process, which takes 0.5 us for a few threads.
#define PREEMPTION_OFTEN 20.0
bool PreemptionRate_is_high(struct PreemptionRate *rate, double now_s);
// Works as PreemptionRate_is_high does, but the caller passes its own reading
// `taken`.
bool PreemptionRate_exceeds(struct PreemptionRate *rate, double now_s,
                            int64_t taken);

#endif
