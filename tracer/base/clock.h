// SPDX-License-Identifier: MIT
// Time: the CPU's counter, read by the hooks, and its frequency, measured
// against CLOCK_MONOTONIC_RAW at start and refined by the collector over the
// whole run. x86-64: TSC (only if it is invariant), aarch64: the generic
// timer, elsewhere and else: clock_gettime, so that a tick is a nanosecond.
#ifndef OCULAR_TRACER_BASE_CLOCK_H
#define OCULAR_TRACER_BASE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#if !defined(__x86_64__)
#include <time.h>
#endif

struct Clock {
    bool counter;                // false: ticks are clock_gettime nanoseconds
    uint64_t start_ticks;        // at Clock_start
    uint64_t start_raw_ns;       // CLOCK_MONOTONIC_RAW at the same moment
    uint64_t start_unix_ns;      // CLOCK_REALTIME at the same moment
    double start_error;          // of that pair, in ticks
    _Atomic uint64_t hz_bits;    // ticks a second, a double's bits
    _Atomic uint64_t error_bits; // relative error bound of hz, a double's bits
};

// The hook's clock. If the counter cannot be trusted, the hook calls
// Clock_read() instead; that costs a branch that is always predicted.
static inline uint64_t Clock_counter(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc(); // __rdtsc() without its header, which takes
                                   // as long to compile as a whole unit
#elif defined(__aarch64__)
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

uint64_t Clock_fallback(void); // CLOCK_MONOTONIC_RAW, ns

static inline uint64_t Clock_read(const struct Clock *clock)
{
    return __builtin_expect(clock->counter, 1) ? Clock_counter()
                                               : Clock_fallback();
}

// Chooses the counter and calibrates it for about 5 ms. Any thread.
void Clock_start(struct Clock *clock);
// Measures again over all the time since Clock_start. Collector, or at stop. A
// result that contradicts the one before (the machine slept, and only one of
// the two clocks went on) is not taken.
void Clock_refine(struct Clock *clock);
double Clock_hz(const struct Clock *clock);    // ticks a second
double Clock_error(const struct Clock *clock); // relative, e.g. 2e-6
// Seconds from Clock_start to `ticks` (negative before it).
double Clock_seconds(const struct Clock *clock, uint64_t ticks);

#endif
