// SPDX-License-Identifier: MIT
// The hooks read the time from the CPU's time stamp counter. On x86-64 the time
// stamp counter is the TSC, which must be invariant. On aarch64 the time stamp
// counter is the generic timer. If the CPU has no usable time stamp counter, a
// tick is one nanosecond of clock_gettime. Clock_start measures the frequency
// of the time stamp counter against CLOCK_MONOTONIC_RAW, and the collector's
// thread refines the frequency over the whole run.
#pragma once

#include "tracer/base/counter.h"

#include <stdbool.h>
#include <stdint.h>
#if !defined(__x86_64__)
#include <time.h>
#endif

struct Clock {
    // True if ticks are those of the time stamp counter, false if ticks are
    // nanoseconds of clock_gettime.
    bool counter;
    // Clock_start reads `start_ticks`, `start_raw_ns` and `start_unix_ns` at
    // the same moment.
    uint64_t start_ticks;   // Reading of the time stamp counter.
    uint64_t start_raw_ns;  // Reading of CLOCK_MONOTONIC_RAW.
    uint64_t start_unix_ns; // Reading of CLOCK_REALTIME.
    double start_error;     // Error bound of the three readings, in ticks.
    counter_t hz;           // Ticks per second, as the bits of a double.
    // Relative error bound of `hz`, for example 2e-6, as the bits of a double.
    counter_t error;
};

// Returns the ticks of the CPU's time stamp counter to a hook. If the time
// stamp counter cannot be trusted, the hook calls Clock_read() instead.
// Checking that the time stamp counter can be trusted costs one well predicted
// branch.
static inline uint64_t Clock_counter(void)
{
#if defined(__x86_64__)
    // The compiler's builtin is used instead of __rdtsc(), because the header
    // of __rdtsc() takes long to compile.
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    // An event of the timeline has room for 59 bits (Event_when). qemu-user
    // counts from 1970 on, in ns.
    return ticks & (UINT64_MAX >> 5);
#else
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#endif
}

uint64_t Clock_fallback(void); // Returns CLOCK_MONOTONIC_RAW in ns.

static inline uint64_t Clock_read(const struct Clock *clock)
{
    return __builtin_expect(clock->counter, 1) ? Clock_counter()
                                               : Clock_fallback();
}

// Chooses the time stamp counter or the system clock, and measures the time
// stamp counter for about 5 ms. Any thread may call Clock_start.
void Clock_start(struct Clock *clock);
// Measures the rate of the time stamp counter over the whole time since
// Clock_start. The collector's thread calls Clock_refine, and so does the
// thread that stops the session. If the new rate contradicts the earlier rate,
// the new rate is discarded. A contradiction shows that the machine slept and
// only one of the two clocks continued.
void Clock_refine(struct Clock *clock);
double Clock_hz(const struct Clock *clock); // Returns ticks per second.
// Returns the seconds from Clock_start to `ticks`. The result is negative if
// `ticks` is before Clock_start.
double Clock_seconds(const struct Clock *clock, uint64_t ticks);
