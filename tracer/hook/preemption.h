// SPDX-License-Identifier: MIT
// Measures the time in which other programs had the CPU of a thread. In this
// file a span is the interval between two events of a thread. If other programs
// often take the CPU, the hook at the end of each long span asks the kernel for
// how long other programs had the CPU. Time in which the thread waited is not
// included in the time of other programs. Each thread record has a struct
// Preemption, which only its own thread uses. The governor owns struct
// PreemptionRate.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Length in ns. A shorter span is not checked.
#define PREEMPTION_BRIEF_NS 100000
// Length in ns. A longer span is always checked.
#define PREEMPTION_STOPPED_NS 1000000000

// The times and the numbers of context switches of a thread, as the kernel
// counts them.
struct ThreadTimes {
    // Wall-clock time and CPU time at the end of the reading.
    int64_t wall_ns, cpu_ns;
    int64_t reading_ns; // ns of wall-clock time that the reading took.
    int64_t waits;      // Number of context switches because the thread waited.
    // Number of context switches because the kernel let another thread run.
    int64_t taken;
};

struct Preemption {
    struct ThreadTimes then; // The newest reading.
    // True if every long span since `then` was checked.
    bool known;
    uint8_t skips;      // Number of long spans that the next checks skip.
    uint8_t next_skips; // Value that `skips` gets at the next wait.
    // Argument `armed` of the last Preemption_note_armed.
    uint32_t armed;
    // Number of ns for which the machine was suspended until the last reading.
    int64_t suspended_ns;
};

// The largest number of long spans that are skipped one after the other. If a
// thread sleeps between its events, a check finds nothing and costs up to 10 us
// after each sleep. A single wait, for example for the GIL, is not taken for a
// sleep of the thread. With each further wait in sequence, the number of
// skipped spans is about doubled.
#define PREEMPTION_SKIPS 15

// Initialises the struct for a thread whose times are 0.
void Preemption_init(struct Preemption *preemption);
// Records that a long span was not checked.
static inline void Preemption_forget(struct Preemption *preemption)
{
    preemption->known = false;
}

// `armed` is the number of times that code has been armed. If the number of
// times has changed since the last call, no more spans are skipped. Waits while
// code is being armed, or while code is dark, do not mean that the thread
// sleeps between its events. The next spans are checked, because only a few
// calls come after code was armed, and a single preemption lasts longer than
// all these calls together.
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

// Returns the ns of a span in which other programs had the CPU of the calling
// thread, or in which the machine was suspended. The span is `span_ns` ns long
// and ends now. Returns 0 if the thread has waited since the last call of
// Preemption_measure. The two system calls of Preemption_measure take about 0.7
// us, or several us if the thread has slept.
int64_t Preemption_measure(struct Preemption *preemption, int64_t span_ns);
// Returns the ns of a span in which other programs had the CPU. The span is
// `span_ns` ns long. `then` was read before the span, and `now` was read at the
// end of the span.
int64_t Preemption_between(const struct ThreadTimes *then,
                           const struct ThreadTimes *now, int64_t span_ns);

// The rate at which the kernel takes the CPU from the threads of the process.
struct PreemptionRate {
    double since_s; // Seconds of CLOCK_MONOTONIC at the newest reading.
    int64_t taken;  // Number of involuntary context switches until `since_s`.
};

// Returns true if the kernel took the CPU from the process more than
// PREEMPTION_OFTEN times a second since the last call. The first call of
// PreemptionRate_is_high returns true. The system call in
// PreemptionRate_is_high adds up the context switches of all threads of the
// process. If there are only a few threads, the system call takes 0.5 us.
#define PREEMPTION_OFTEN 20.0
bool PreemptionRate_is_high(struct PreemptionRate *rate, double now_s);
// Does the same as PreemptionRate_is_high, but the caller passes the number of
// context switches as `taken`.
bool PreemptionRate_exceeds(struct PreemptionRate *rate, double now_s,
                            int64_t taken);
