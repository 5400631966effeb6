// SPDX-License-Identifier: MIT
// The clocks of the sampler, handed in: the kernel's, or those of a test, whose
// hours take no time.
#ifndef OCULAR_TRACER_SAMPLE_SAMPLE_CLOCK_H
#define OCULAR_TRACER_SAMPLE_SAMPLE_CLOCK_H

#include "ipc/base/now.h"

struct SampleClock {
    // As Now_ns: CLOCK_MONOTONIC, the CPU time of the process, of the caller
    // and of other threads (Now_clock_of).
    uint64_t (*read_ns)(void *context, clockid_t id);
    void *context;
};

static inline uint64_t SampleClock_ns(const struct SampleClock *clock,
                                      clockid_t id)
{
    return clock->read_ns(clock->context, id);
}

// The kernel's read_ns.
static inline uint64_t SampleClock_kernel_ns(void *context, clockid_t id)
{
    (void)context;
    return Now_ns(id);
}

#endif
