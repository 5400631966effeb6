// SPDX-License-Identifier: MIT
// The sampler reads its clocks through a function pointer. The clocks are the
// kernel's clocks. A test replaces them by clocks that the test itself sets.
#ifndef OCULAR_TRACER_SAMPLE_SAMPLE_CLOCK_H
#define OCULAR_TRACER_SAMPLE_SAMPLE_CLOCK_H

#include "ipc/base/now.h"

struct SampleClock {
    // Reads a clock as Now_ns does. The clock is CLOCK_MONOTONIC, or the CPU
    // time of the process, of the caller or of another thread (Now_clock_of).
    uint64_t (*read_ns)(void *context, clockid_t id);
    void *context;
};

static inline uint64_t SampleClock_ns(const struct SampleClock *clock,
                                      clockid_t id)
{
    return clock->read_ns(clock->context, id);
}

// Reads the kernel's clocks for `read_ns`.
static inline uint64_t SampleClock_kernel_ns(void *context, clockid_t id)
{
    (void)context;
    return Now_ns(id);
}

#endif
