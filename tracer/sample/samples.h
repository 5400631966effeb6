// SPDX-License-Identifier: MIT
// struct Samples collects the samples of the CPU timers of all threads, even of
// threads that end before the sampler gets a list with them. struct Samples
// also adds up the cost of the samples, and counts lost samples. Only the
// sampler's thread calls the functions of samples.h. Any thread may read the
// counters.
#pragma once

#include "tracer/sample/sampling.h"
#include "tracer/sample/starts.h"

struct Samples {
    struct Sampling *sampling; // Borrowed.
    struct Starts starts;
    // Stack of the sample that is being handled.
    struct SampledStack stack;
    // Addresses and ids of the C functions of the sample that is being handled.
    uintptr_t pcs[NATIVE_DEPTH];
    uint32_t natives[NATIVE_IDS];
    // Number of the wanted signal, 0 for any signal, or below 0 for no signal.
    int signal;

    // Ticks before which all samples are collected.
    counter_t collected;
    counter_t unknown;
    counter_t truncated;
    counter_t lost;
    counter_t ours, ours_ns;
    counter_t taken;
    counter_t handler_ticks;
    counter_t signal_used, error;
};

// Installs the handler of the signal that takes samples. `signal` is the number
// of the wanted signal, 0 for any signal, or below 0 for no signal.
void Samples_open(struct Samples *samples, struct Sampling *sampling,
                  int signal);
void Samples_close(struct Samples *samples);
// Takes over the timers that threads have made for themselves since the last
// step.
void Samples_take_begun(struct Samples *samples);
// Returns the number of samples that wait in the threads' rings.
uint64_t Samples_waiting(const struct Samples *samples);
// Attributes the waiting samples to functions, and checks that the timers still
// work.
void Samples_collect(struct Samples *samples, const struct ShareTime *now);
