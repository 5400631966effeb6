// SPDX-License-Identifier: MIT
// The hooks read the time from the CPU's counter. On x86-64 this counter is the
// TSC, which must be invariant. On aarch64 this counter is the generic timer.
// If the CPU has no such counter, a tick is one nanosecond of clock_gettime.
// Clock_start measures the counter's frequency against CLOCK_MONOTONIC_RAW, and
// the collector refines the frequency over the whole run.
#ifndef OCULAR_TRACER_BASE_CLOCK_H
#define OCULAR_TRACER_BASE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#if !defined(__x86_64__)
#include <time.h>
#endif

struct Clock {
    // True if ticks come from the counter; false if ticks are clock_gettime
    // nanoseconds.
    bool counter;
    // The next three fields are readings at the same moment, in Clock_start.
    uint64_t start_ticks;     // the counter's reading.
    uint64_t start_raw_ns;    // CLOCK_MONOTONIC_RAW's reading.
    uint64_t start_unix_ns;   // CLOCK_REALTIME's reading.
    double start_error;       // error bound of these three readings, in ticks.
    _Atomic uint64_t hz_bits; // ticks per second, as the bits of a double.
    // relative error bound of the rate, as the bits of a double
    _Atomic uint64_t error_bits;
};

// Returns the ticks of the CPU's counter for a hook. If the counter cannot be
// trusted, the hook calls Clock_read() instead. The check costs one well
// predicted branch.
static inline uint64_t Clock_counter(void)
{
#if defined(__x86_64__)
    // The compiler's builtin is used instead of __rdtsc(), whose header takes
    // long to compile.
    return __builtin_ia32_rdtsc();
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

uint64_t Clock_fallback(void); // returns CLOCK_MONOTONIC_RAW in ns

static inline uint64_t Clock_read(const struct Clock *clock)
{
    return __builtin_expect(clock->counter, 1) ? Clock_counter()
                                               : Clock_fallback();
}

// Chooses the counter and calibrates the counter for about 5 ms. Any thread may
// call this function.
void Clock_start(struct Clock *clock);
// Measures the counter's rate over the whole time since Clock_start. The
// collector's thread calls this function, and so does the thread that stops the
// session. A rate that contradicts the earlier rate is discarded. Such a rate
// shows that the machine slept and only one of the two clocks continued.
void Clock_refine(struct Clock *clock);
double Clock_hz(const struct Clock *clock); // returns ticks per second
// Returns the relative error bound of Clock_hz, for example 2e-6.
double Clock_error(const struct Clock *clock);
// Returns the seconds from Clock_start to `ticks`. The result is negative if
// `ticks` is before Clock_start.
double Clock_seconds(const struct Clock *clock, uint64_t ticks);

#endif
