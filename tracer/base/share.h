// SPDX-License-Identifier: MIT
// Holds the time that the sampler has attributed to a function or a thread.
// There is one sum for the time since the start, and one sum for a window that
// decays exponentially. struct ShareClock makes the window long enough to
// contain enough samples. The sampler writes struct Share, and any thread may
// read it. If a thread reads two values one after the other, one of the values
// can lack the newest sample.
#pragma once

#include "ipc/wait_kind.h"
#include "tracer/base/counter.h"

#include <stdbool.h>

struct Breakdown;

// The mean age of the samples in the window, in seconds, lies between
// SHARE_SHORTEST and SHARE_LONGEST. Between these two bounds, the mean age is
// the time in which SHARE_SAMPLES samples are taken. A window without decay
// would have to be twice as long for the same precision.
#define SHARE_SHORTEST 2.5
#define SHARE_LONGEST 30.0
#define SHARE_SAMPLES 150.0

struct ShareClock;

// A point in time on the sampler's clock. If the sampler's clock has advanced
// since this time, readers of a value use the clock's newest time instead.
struct ShareTime {
    // ns since the sampler's start, without the time in which reading memory
    // was denied.
    double ns;
    // The time `ns` divided by the mean age of the window. The mean age of the
    // window changes over time, so `age` is an integral.
    double age;
    // ns of a core that is busy for the whole window.
    double full_ns;
    // The clock from which this time was read. If `clock` is NULL, the time is
    // never replaced by a newer one.
    const struct ShareClock *clock;
};

// Measures the length of the window as decaying sums. The sampler advances
// these sums, and any thread may read them.
struct ShareClock {
    counter_t ns; // All fields of struct ShareClock are the bits of doubles.
    counter_t age;
    counter_t full_ns;   // ns, each weighted by its decay.
    counter_t square_ns; // ns, each weighted by the square of its decay.
    counter_t samples;   // Number of samples, each weighted by its decay.
    // Number of samples, each weighted by the square of its decay.
    counter_t square_samples;
};

struct ShareValue {
    counter_t total_ns;
    // ns in the window at the age `window_age`, stored as the bits of a double.
    counter_t window_ns;
    // ShareTime.age at the newest credit, stored as the bits of a double.
    counter_t window_age;
};

// A function's waiting time for each kind of wait. Waiting time whose kind is
// unknown is not included.
struct ShareWaits {
    struct ShareValue own[WAIT_KINDS];   // Parts of ShareParts.wait.
    struct ShareValue total[WAIT_KINDS]; // Parts of ShareParts.cumulative_wait.
};

// The threads that stay in a function without running, because they wait. The
// fields that any thread may read have the numbers of the newest turn in which
// all threads were observed.
struct ShareStill {
    counter_t threads;
    // Time in ns for which the first of these threads had not run when it was
    // observed.
    counter_t age_ns;
    counter_t until_ns; // CLOCK_MONOTONIC up to which the numbers are valid.
    counter_t unit;     // Code unit at which the first of these threads stays.
    // The numbers of the present turn.
    uint32_t turn, found, oldest_unit;
    uint64_t oldest_ns;
};

// The values of a function that was sampled.
struct ShareParts {
    struct ShareValue wait; // Time off the CPU in the function itself.
    // The part of `wait` in which the thread waited for the GIL or for a CPU.
    struct ShareValue wait_to_run;
    // Time off the CPU that counts as a part of calls' durations: the part of
    // `wait` that is not in `wait_to_run`, and the same part of the waits in
    // `called_c`. A wait that lasts much longer than a timed call does not
    // count, because otherwise a call that hangs would look like many calls.
    struct ShareValue wait_in_calls;
    counter_t waits_in_calls; // Number of observations in `wait_in_calls`.
    // Time in C: the part of Share.cpu at call instructions that have pushed no
    // Python frame.
    struct ShareValue in_c;
    // CPU time of the C functions that the function called, if they have rows
    // of their own. A call's duration is the sum of Share.cpu, `wait_in_calls`
    // and `called_c`, without `in_long_calls`.
    struct ShareValue called_c;
    // The part of Share.cpu and `called_c` in calls that last much longer than
    // a timed call (LongCalls). It is no part of other calls' durations.
    struct ShareValue in_long_calls;
    // Number of samples in `called_c` in which the C function was running.
    counter_t called_samples;
    // Time in which other threads waited for the GIL while the function had it.
    struct ShareValue blocked;
    // Time in which the function itself, or a function that it called, ran or
    // waited.
    struct ShareValue cumulative;
    // The parts of `cumulative` off the CPU, in C functions, and in the garbage
    // collector.
    struct ShareValue cumulative_wait, cumulative_c, cumulative_gc;
    // Waiting time by kind, or NULL until the kind of a wait is known. The
    // sampler publishes `waits` with release.
    struct ShareWaits *_Atomic waits;
    // The parts of `cumulative` for each caller, or NULL if memory is out. The
    // sampler publishes `callers` with release.
    struct Breakdown *_Atomic callers;
    struct ShareStill still;
};

// All values that the sampler has for one function. Most functions of a large
// program are never sampled, so the values beside `cpu` have a block of memory
// of their own.
struct Share {
    struct ShareValue cpu; // CPU time in the function itself.
    // Number of samples in which the function was the innermost one.
    counter_t samples;
    // Number of samples in `samples` in which the function was running.
    counter_t run_samples;
    // All other values, or NULL before the first sample. The sampler publishes
    // `parts` with release, and other threads read `parts` by Share_parts.
    struct ShareParts *_Atomic parts;
    // An array of two parts, each with one number for each instruction. In the
    // first part, an entry is the number of samples that found the instruction
    // running. The second part counts only the samples in C functions
    // (Code_instruction_samples).
    _Atomic uint32_t *_Atomic instruction_samples;
    // An array with the id of the function that each instruction calls in
    // sampled stacks. Only the sampler uses `callees`.
    uint32_t *callees;
    // The number of the newest sample whose stack contains the function. Only
    // the sampler uses `stamp`.
    uint32_t stamp;
    // Number of samples in `run_samples` in which the caller's call instruction
    // was pushing or popping the function's frame. Only the sampler uses
    // `entry_samples`.
    uint32_t entry_samples;
};

// Returns the function's values for a reader. Before the first sample all
// values are 0.
const struct ShareParts *Share_parts(const struct Share *share);
// Returns the breakdown by callers, or NULL before the first sample.
const struct Breakdown *Share_callers(const struct Share *share);
// Returns the function's values for the sampler to write, or NULL if memory is
// out. Only the sampler calls Share_own_parts.
struct ShareParts *Share_own_parts(struct Share *share);
// Returns the function's waiting time by kind for a reader, or NULL if no kind
// is known.
const struct ShareWaits *Share_waits(const struct Share *share);
// Returns the waits to write, or NULL if memory is out. Only the sampler calls
// Share_own_waits.
struct ShareWaits *Share_own_waits(struct ShareParts *parts);
// Divides the share `whole` in the window by kind. The time whose kind is not
// known is divided in the same proportion as the other time. Returns false if
// no kind is known.
bool ShareWaits_divide(const struct ShareValue *kinds,
                       const struct ShareValue *whole,
                       const struct ShareTime *now, double *shares);
void Share_release(struct Share *share);
// Notes that a thread stays in the function at the code unit `unit`, and has
// not run for `age_ns` ns. A thread is observed at most once in a turn. The
// numbers of a turn are published in the next turn, and are valid until
// `until_ns` (CLOCK_MONOTONIC).
void ShareStill_add(struct ShareStill *still, uint32_t turn, uint64_t age_ns,
                    uint64_t until_ns, uint32_t unit);
// Returns the number of threads that stay in the function, and stores the age
// of the first one.
uint64_t ShareStill_get(const struct ShareStill *still, uint64_t now_ns,
                        uint64_t *age_ns);

// The time that one sample adds to many values. The decay of values is computed
// once for all values with the same age.
struct ShareCredit {
    double age; // ShareTime.age of the sample.
    double ns;
    double at;   // Age at the newest credit of a value.
    double kept; // Factor by which a value decays from `at` to `age`.
};

// Advances the clock by `ns`, in which `samples` samples were taken. Only the
// sampler calls ShareClock_advance.
void ShareClock_advance(struct ShareClock *clock, double ns, double samples);
struct ShareTime ShareClock_now(const struct ShareClock *clock);
// ShareClock_window_s returns the length of the window in seconds, and
// ShareClock_samples returns the number of samples in the window. Both results
// describe a window without decay that would be equally precise.
double ShareClock_window_s(const struct ShareClock *clock);
double ShareClock_samples(const struct ShareClock *clock);

// Returns the factor by which a credit decays from the age `from` to the age
// `to`.
double ShareTime_decay(double from, double to);
void ShareCredit_init(struct ShareCredit *credit, const struct ShareTime *now,
                      double ns);
void ShareValue_credit(struct ShareValue *value, struct ShareCredit *credit);
// Adds the window and the total of `other` to `value`.
void ShareValue_join(struct ShareValue *value, const struct ShareValue *other,
                     const struct ShareTime *now);
// Credits `ns` to the value at the moment `now`.
void ShareValue_add(struct ShareValue *value, const struct ShareTime *now,
                    double ns);
// Returns the fraction of one core's wall-clock time that the value has in the
// window that ends at `now`.
double ShareValue_window(const struct ShareValue *value,
                         const struct ShareTime *now);
// Returns the fraction of one core's wall-clock time that the value has since
// the start.
double ShareValue_total(const struct ShareValue *value,
                        const struct ShareTime *now);
