// SPDX-License-Identifier: MIT
// Measures the time in which other programs had a thread's CPU. A span is the
// time between two events of a thread. If other programs often take the CPU, a
// hook asks the kernel at the end of each long span for how long other programs
// had the CPU. Time in which the thread waited is not included. Each record has
// a struct Preemption, which only its own thread uses. The governor owns the
// PreemptionRate.
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
    // number of context switches because the kernel let another thread run
    int64_t taken;
};

struct Preemption {
    struct ThreadTimes then; // the newest reading
    bool known;              // true if every long span since `then` was checked
    uint8_t skips;           // number of next long spans that are not checked
    uint8_t next_skips;      // value of `skips` after the next wait
    uint32_t armed;          // `armed` of the last Preemption_note_armed
    // ns for which the machine was suspended up to the last reading
    int64_t suspended_ns;
};

// The largest number of long spans that are skipped. If a thread sleeps between
// its events, a check is useless and costs up to 10 us after each sleep. A
// single wait, for example for the GIL, does not count as sleeping. With each
// further wait in a row, the number of skipped spans is about doubled.
#define PREEMPTION_SKIPS 15

// Initialises the struct for a thread that begins now.
void Preemption_init(struct Preemption *preemption);
// Records that a long span was not checked.
static inline void Preemption_forget(struct Preemption *preemption)
{
    preemption->known = false;
}

// `armed` is the number of times that code has been armed. A new number ends
// the skipping of spans. Waits while code is being armed, or while code is
// dark, do not mean that the thread sleeps between its events. The next spans
// are checked, because only a few calls follow after code was armed, and a
// single preemption lasts longer than all these calls together.
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
// CPU, or the machine was suspended. The span has the length `span_ns` and ends
// now. Returns 0 if the thread has waited since the last call. The two system
// calls take about 0.7 us, or several us if the thread has slept.
int64_t Preemption_measure(struct Preemption *preemption, int64_t span_ns);
// Returns for how many ns of a span other programs had the CPU. The span has
// the length `span_ns`. `then` was read before the span, and `now` was read at
// the end of the span.
int64_t Preemption_between(const struct ThreadTimes *then,
                           const struct ThreadTimes *now, int64_t span_ns);

// The rate at which the kernel takes the CPU from the process's threads.
struct PreemptionRate {
    double since_s; // CLOCK_MONOTONIC at the newest reading
    int64_t taken;  // number of involuntary context switches until `since_s`
};

// Returns true if the kernel took the CPU more than PREEMPTION_OFTEN times a
// second since the last call. The first call returns true. The system call adds
// up the numbers of all threads of the process. This takes 0.5 us if there are
// only a few threads.
#define PREEMPTION_OFTEN 20.0
bool PreemptionRate_is_high(struct PreemptionRate *rate, double now_s);
// Does the work of PreemptionRate_is_high, but the caller passes the number of
// context switches as `taken`.
bool PreemptionRate_exceeds(struct PreemptionRate *rate, double now_s,
                            int64_t taken);

#endif
