// SPDX-License-Identifier: MIT
// Measures the time in which a thread ran, and the time in which other programs
// had its CPU. In this file a span is the interval between two events of a
// thread. The hook at the end of a long span asks the kernel how the thread has
// spent the span. Each thread record has a struct Preemption, which only its
// own thread uses. The governor owns struct PreemptionRate.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Spans with fewer ns than this are not checked for other programs.
#define PREEMPTION_BRIEF_NS 100000
// Length in ns. If other programs rarely take the CPU, only longer spans are
// checked. The kernel and CPython's GIL switch threads at about this interval.
#define PREEMPTION_LONG_NS 5000000
// Length in ns. A longer span is never skipped.
#define PREEMPTION_STOPPED_NS 1000000000

// Decides which spans that end at one site are checked. Sites with the same
// hash take turns at a place.
struct PreemptionPlace {
    uint16_t site;
    // The number of long spans that the next checks skip, and the value that
    // this number gets at the next wait.
    uint8_t skips, next_skips;
};

#define PREEMPTION_PLACES 16u

// The times and the numbers of context switches of a thread, as the kernel
// counts them.
struct ThreadTimes {
    // Wall-clock time and CPU time at the end of the reading.
    int64_t wall_ns, cpu_ns;
    int64_t reading_ns; // ns of wall-clock time that the reading took.
    int64_t waits;      // Context switches because the thread waited.
    // Context switches because the kernel let another thread run.
    int64_t taken;
};

struct Preemption {
    struct ThreadTimes then; // The newest reading.
    // True if every long span since `then` was checked, or if the thread is
    // expected to have waited in it.
    bool known;
    // True if `then` contains waits that were only expected.
    bool guessed;
    // Result of the newest call of Preemption_measure: ns of the span in which
    // the thread ran. If `unsure`, the value is the least that the kernel's
    // clocks allow.
    int64_t ran_ns;
    // True if the kernel's clocks allow very different values of ran_ns,
    // because the newest reading was long before the span.
    bool unsure;
    struct PreemptionPlace places[PREEMPTION_PLACES];
    // Argument `armed` of the last Preemption_note_armed.
    uint32_t armed;
    // ns for which the machine was suspended until the last reading.
    int64_t suspended_ns;
};

// The largest number of consecutive long spans that are not checked (skipped).
// If a thread sleeps between its events, a check finds nothing and costs up to
// 10 us after each sleep. A single wait, for example for the GIL, does not yet
// mean that the thread sleeps. Each further wait in sequence about doubles the
// number of skipped spans.
#define PREEMPTION_SKIPS 15

// Preemption_init initialises the struct for a thread that begins, whose times
// are 0.
void Preemption_init(struct Preemption *preemption);
// Records that a span was not checked, and that the thread is expected to have
// waited for the `span_ns` ns of the span, and once if the span is long. If
// `span_ns` is 0, the length of the span is not known.
static inline void Preemption_expect_wait(struct Preemption *preemption,
                                          int64_t span_ns)
{
    preemption->known = preemption->known && span_ns;
    preemption->then.wall_ns += span_ns;
    if (span_ns > PREEMPTION_BRIEF_NS) {
        preemption->then.waits++;
        preemption->guessed = true;
    }
}

// `armed` is the number of times that hooks were installed. If `armed` has
// changed since the last call, no more spans are skipped. While hooks are being
// installed, and while code has no hooks (is dark), a wait does not mean that
// the thread sleeps between its events. The next spans are checked, because a
// single preemption lasts longer than all the calls that follow the
// installation of hooks.
static inline void Preemption_note_armed(struct Preemption *preemption,
                                         uint32_t armed)
{
    if (preemption->armed == armed)
        return;
    preemption->armed = armed;
    memset(preemption->places, 0, sizeof preemption->places);
    preemption->known = false;
}

// Returns the place of the site whose hash is `site`.
static inline struct PreemptionPlace *
Preemption_at(struct Preemption *preemption, uint32_t site)
{
    struct PreemptionPlace *place =
        &preemption->places[site % PREEMPTION_PLACES];
    uint16_t mark = (uint16_t)(site / PREEMPTION_PLACES);

    if (place->site != mark)
        *place = (struct PreemptionPlace){.site = mark};
    return place;
}

// Returns true if this long span, which ends at `site`, should not be checked.
static inline bool Preemption_skip(struct Preemption *preemption, uint32_t site)
{
    struct PreemptionPlace *place = Preemption_at(preemption, site);

    if (!place->skips)
        return false;
    place->skips--;
    return true;
}

// Returns the ns of a span in which other programs had the CPU of the calling
// thread, or in which the machine was suspended. The span is `span_ns` ns long
// and ends now, at `site`. Returns 0 if the thread has waited since the last
// call of Preemption_measure. Sets `ran_ns`. The two system calls of
// Preemption_measure take about 0.7 us, or several us if the thread has slept.
int64_t Preemption_measure(struct Preemption *preemption, int64_t span_ns,
                           uint32_t site);

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
