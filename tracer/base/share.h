// SPDX-License-Identifier: MIT
// Time that the sampler has attributed to one function or thread: since the
// start, and in a window that forgets exponentially. The window is as long as
// it must be to hold enough samples: ShareClock. The sampler writes, anyone
// reads (values may be one sample apart).
#ifndef OCULAR_TRACER_BASE_SHARE_H
#define OCULAR_TRACER_BASE_SHARE_H

#include "tracer/base/counter.h"

#include <stdbool.h>

struct Breakdown;

// The window's mean age is between these, s, and in between as long as so many
// samples take. A window with sharp ends would have to be twice as long for the
// same precision.
#define SHARE_SHORTEST 2.5
#define SHARE_LONGEST 30.0
#define SHARE_SAMPLES 150.0

struct ShareClock;

// A moment of the sampler's time. If the clock has moved on since, a value is
// read against the clock's newest moment instead.
struct ShareTime {
    double ns;  // since the sampler's start, but for when reads were denied
    double age; // the same in mean ages of the window, as it was at each time
    double full_ns; // what a core that is always busy has in the window
    const struct ShareClock
        *clock; // whose moment it is; NULL: none, it stays as it is
};

// The sums that define the window. The sampler moves it on, anyone reads.
struct ShareClock {
    counter_t ns; // doubles' bits, as all of these
    counter_t age;
    counter_t full_ns;   // ns, each weighted by its rest in the window,
    counter_t square_ns; // ... and by the square of that
    counter_t samples;   // the same of samples
    counter_t square_samples;
};

struct ShareValue {
    counter_t total_ns;
    counter_t window_ns;  // a double's bits, decayed to `window_age`
    counter_t window_age; // a double's bits
};

// All that the sampler knows of a function.
struct Share {
    struct ShareValue cpu;         // running
    struct ShareValue wait;        // in the function, off the CPU
    struct ShareValue wait_to_run; // of wait: for the interpreter or a CPU,
                                   // which is nothing that a call takes
    struct ShareValue in_c;        // of cpu: at a call that has pushed no frame
    struct ShareValue cumulative;  // running or waiting in it or what it called
    counter_t resume_ns;   // of cpu: as it begins, where CPython collects
                           // garbage, before a hook sees it
    counter_t samples;     // with the function on top
    counter_t run_samples; // of these: it was running
    // From its first sample on; published with release.
    struct Breakdown *_Atomic callers; // of `cumulative`
    // Samples that found it running, by the number of the instruction, and
    // those in C; see Code_instruction_samples.
    _Atomic uint32_t *_Atomic instruction_samples;
    uint32_t *callees; // id that the instruction calls, as stacks have shown;
                       // the sampler's alone
    counter_t bytes;   // of these three
    uint32_t stamp;    // of the newest sample that it is in; the sampler's
};

// One sample's credit, for many values: what its sums cost is paid once.
struct ShareCredit {
    double age; // of the sampler's time
    double ns;
    double at;   // a window as of then
    double kept; // ... has so much left
};

// For the sampler: `ns` have gone by, with that number of samples.
void ShareClock_advance(struct ShareClock *clock, double ns, double samples);
struct ShareTime ShareClock_now(const struct ShareClock *clock);
// The window that shares are over: s, and samples in it. Both as of a window
// with sharp ends that is as precise.
double ShareClock_window_s(const struct ShareClock *clock);
double ShareClock_samples(const struct ShareClock *clock);

// The rest, at age `to`, of 1 that was credited at age `from`.
double ShareTime_decay(double from, double to);
void ShareCredit_init(struct ShareCredit *credit, const struct ShareTime *now,
                      double ns);
void ShareValue_credit(struct ShareValue *value, struct ShareCredit *credit);
// Adds the other's window and its total.
void ShareValue_join(struct ShareValue *value, const struct ShareValue *other,
                     const struct ShareTime *now);
// Credits `ns` now.
void ShareValue_add(struct ShareValue *value, const struct ShareTime *now,
                    double ns);
// Fraction of one core's wall time in the window that ends now.
double ShareValue_window(const struct ShareValue *value,
                         const struct ShareTime *now);
// The same since the start.
double ShareValue_total(const struct ShareValue *value,
                        const struct ShareTime *now);

#endif
