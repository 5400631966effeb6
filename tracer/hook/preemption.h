// SPDX-License-Identifier: MIT
// Measures the time in which other programs had a thread's CPU. If other
// programs take the CPU often, a hook asks the kernel at the end of each long
// span, because a part of the span may be time of other programs. Time in which
// a thread waits is not included. Each record has a struct Preemption, which
// only its own thread uses. The governor owns the PreemptionRate.
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
    int64_t waits; // number of context switches because the thread waited
    // number of context switches because another thread was to run
    int64_t taken;
};

struct Preemption {
    struct ThreadTimes then; // the newest reading
    bool known;              // true if every long span since `then` was checked
    uint8_t skips;           // number of next long spans without a check
    uint8_t next_skips;      // value of `skips` after the next wait
    uint32_t armed; // number that Preemption_note_armed was called with
    // time for which the machine was suspended, as last read
    int64_t suspended_ns;
};

// The largest number of long spans that are skipped. If a thread sleeps in its
// spans, a check is useless and costs up to 10 us after each sleep. A single
// wait, for example for the GIL, does not count as sleeping. After each further
// wait in a row about twice as many spans are skipped.
#define PREEMPTION_SKIPS 15

// Initialises the struct for a thread that begins now.
void Preemption_init(struct Preemption *preemption);
// Records that a long span was not checked.
static inline void Preemption_forget(struct Preemption *preemption)
{
    preemption->known = false;
}

// `armed` is the number of times that code has been armed. A new number ends
// the skipping of spans. A thread waits while code is armed, and waits often
// while code is dark, but these waits do not mean that the thread sleeps. Only
// a few calls follow when code is armed, and one preemption lasts longer than
// all of these calls.
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

// Returns for how many ns of a span other programs had the calling thread's
// CPU, or the machine was suspended. The span ends now. `span_ns` is the length
// of the span. Returns 0 if the thread has waited since the last call. The two
// system calls take about 0.7 us, or several us if the thread has slept.
int64_t Preemption_measure(struct Preemption *preemption, int64_t span_ns);
// Returns for how many ns of a span of `span_ns` other programs had the CPU.
// `then` is a reading before the span, and the other reading is from the end of
// the span.
int64_t Preemption_between(const struct ThreadTimes *then,
                           const struct ThreadTimes *now, int64_t span_ns);

// The rate at which the kernel takes the CPU from the process's threads.
struct PreemptionRate {
    double since_s; // CLOCK_MONOTONIC at the newest reading
    int64_t taken;  // number of involuntary context switches until `since_s`
};

// Returns true if the kernel took the CPU more than PREEMPTION_OFTEN times a
// second since the last call. The first call returns true. The system call adds
// up the numbers of all threads of the process, which takes 0.5 us for a few
// threads.
#define PREEMPTION_OFTEN 20.0
bool PreemptionRate_is_high(struct PreemptionRate *rate, double now_s);
// Decides like PreemptionRate_is_high, but from the caller's own reading
// `taken`.
bool PreemptionRate_exceeds(struct PreemptionRate *rate, double now_s,
                            int64_t taken);

#endif
