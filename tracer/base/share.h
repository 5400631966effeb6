// SPDX-License-Identifier: MIT
// Holds the time that the sampler has attributed to a function or a thread.
// There is one sum for the time since the start, and one sum for an
// exponentially decaying window. `struct ShareClock` makes the window long
// enough to hold enough samples. The sampler writes and any thread reads. Of
// two values that are read one after the other, one may lack the newest sample.
#ifndef OCULAR_TRACER_BASE_SHARE_H
#define OCULAR_TRACER_BASE_SHARE_H

#include "tracer/base/counter.h"

#include <stdbool.h>

struct Breakdown;

// The mean age of the window, in seconds, lies between SHARE_SHORTEST and
// SHARE_LONGEST. Between the two bounds, the mean age is the time in which
// SHARE_SAMPLES samples are taken. A window without decay would need twice this
// length for the same precision.
#define SHARE_SHORTEST 2.5
#define SHARE_LONGEST 30.0
#define SHARE_SAMPLES 150.0

struct ShareClock;

// A moment of the sampler's time. If the clock has advanced since this moment,
// a value is read at the clock's newest moment instead.
struct ShareTime {
    // Nanoseconds since the sampler's start, without the time in which reads
    // were denied.
    double ns;
    // The time `ns`, counted in mean ages of the window. The length of a mean
    // age changes over time.
    double age;
    // Nanoseconds that a core that is always busy has in the window.
    double full_ns;
    // The clock to which this moment belongs. If `clock` is NULL, the moment is
    // never replaced.
    const struct ShareClock *clock;
};

// The clock of the window, which consists of sums. The sampler advances the
// sums, and any thread reads them.
struct ShareClock {
    counter_t ns; // all fields are the bits of doubles
    counter_t age;
    counter_t full_ns;        // ns weighted by their decay
    counter_t square_ns;      // ns weighted by the square of their decay
    counter_t samples;        // samples weighted by their decay
    counter_t square_samples; // samples weighted by the square of their decay
};

struct ShareValue {
    counter_t total_ns;
    counter_t window_ns; // ns at the time `window_age`, as the bits of a double
    counter_t window_age; // age of the newest credit, as the bits of a double
};

// All numbers that the sampler has about one function.
struct Share {
    struct ShareValue cpu;  // CPU time in the function itself
    struct ShareValue wait; // time in the function itself, off the CPU
    // The part of `wait` in which the thread waits for the GIL or a CPU. This
    // time does not count as a part of a call's duration.
    struct ShareValue wait_to_run;
    // The part of `cpu` at a call that pushed no frame.
    struct ShareValue in_c;
    // Time in which other threads waited for the GIL while the function had it.
    struct ShareValue blocked;
    // Time in which the function, or a function that it called, ran or waited.
    struct ShareValue cumulative;
    counter_t samples; // number of samples with the function innermost
    // samples, counted in `samples`, that found the function running
    counter_t run_samples;
    // The callers' parts of `cumulative`, or NULL before the first sample. The
    // sampler publishes this pointer with release.
    struct Breakdown *_Atomic callers;
    // An array of two parts with a number for each instruction. The first part
    // has the number of samples that found the instruction running. The second
    // part counts only the samples in C functions (Code_instruction_samples).
    _Atomic uint32_t *_Atomic instruction_samples;
    // An array with the id of the function that each instruction calls in
    // sampled stacks. Only the sampler uses this field.
    uint32_t *callees;
    counter_t bytes; // bytes of memory behind the three pointers above
    // The number of the newest sample that contains the function. Only the
    // sampler uses this field.
    uint32_t stamp;
    // The samples in `run_samples` at the caller's call instruction, which push
    // or pop the function's frame. Only the sampler uses this field.
    uint32_t entry_samples;
};

// The credit of one sample, which many values receive. The decay of the values
// is computed once.
struct ShareCredit {
    double age; // age of the sample (ShareTime.age)
    double ns;
    double at;   // age of a value's newest credit
    double kept; // decay factor from `at` to `age`
};

// Advances the clock by `ns`, during which `samples` samples were taken. Only
// the sampler calls this function.
void ShareClock_advance(struct ShareClock *clock, double ns, double samples);
struct ShareTime ShareClock_now(const struct ShareClock *clock);
// The next two functions return the length of the window in seconds and the
// number of samples in the window. Both numbers describe a window without decay
// that would be equally precise.
double ShareClock_window_s(const struct ShareClock *clock);
double ShareClock_samples(const struct ShareClock *clock);

// Returns the factor by which a credit decays from age `from` to age `to`.
double ShareTime_decay(double from, double to);
void ShareCredit_init(struct ShareCredit *credit, const struct ShareTime *now,
                      double ns);
void ShareValue_credit(struct ShareValue *value, struct ShareCredit *credit);
// Adds the window and the total of `other` to `value`.
void ShareValue_join(struct ShareValue *value, const struct ShareValue *other,
                     const struct ShareTime *now);
// Credits `ns` at the moment `now`.
void ShareValue_add(struct ShareValue *value, const struct ShareTime *now,
                    double ns);
// Returns the value's share of one core's wall time in the window that ends at
// `now`.
double ShareValue_window(const struct ShareValue *value,
                         const struct ShareTime *now);
// Returns the value's share of one core's wall time since the start.
double ShareValue_total(const struct ShareValue *value,
                        const struct ShareTime *now);

#endif
