// SPDX-License-Identifier: MIT
// struct SampleClock has the function by which the sampler reads its clocks.
// The sampler's clocks are the kernel's clocks. A test uses clocks that the
// test itself sets.
#pragma once

#include "ipc/base/now.h"

struct SampleClock {
    // Reads a clock in ns, as Now_ns does. The clock is CLOCK_MONOTONIC, or the
    // CPU clock of the process, of the calling thread or of another thread
    // (Now_clock_of).
    uint64_t (*read_ns)(void *context, clockid_t id);
    void *context;
};

static inline uint64_t SampleClock_ns(const struct SampleClock *clock,
                                      clockid_t id)
{
    return clock->read_ns(clock->context, id);
}

// Reads one of the kernel's clocks. Except in tests, SampleClock.read_ns is
// SampleClock_kernel_ns.
static inline uint64_t SampleClock_kernel_ns(void *context, clockid_t id)
{
    (void)context;
    return Now_ns(id);
}
