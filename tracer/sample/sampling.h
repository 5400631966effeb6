// SPDX-License-Identifier: MIT
// struct Sampling holds the threads, their timers, the way of reading memory,
// and the shares of time, which both samples and observations use. Only the
// sampler's thread changes a struct Sampling. Any thread may read its counters
// and shares.
#pragma once

#include "tracer/sample/gil_watch.h"
#include "tracer/sample/sample_clock.h"

// Largest number of ns between two steps of the sampler, with a reserve.
#define STEP_MOST_NS UINT64_C(1500000000)

struct Sampling {
    // `attribution` does not own its registry.
    struct Attribution attribution;
    struct CallEdges edges;
    struct Flame flame;
    struct Native native;
    struct SampledThreads threads;
    struct GilWatch gil;
    struct CpuTimers timers;
    struct Memory memory;
    struct SampleClock clock;
    struct ShareClock time;
    uint64_t stepped_ns; // CLOCK_MONOTONIC in ns at the newest step.
    uint64_t step_ns;    // ns between the two newest steps.
    // Wanted number of samples per second of CPU time, as the bits of a double.
    counter_t hz;
    // Number of samples of running threads, including observations.
    counter_t samples;
    struct ShareValue elsewhere;
};

// Initialises a struct Sampling without threads. Sampling_init cannot fail,
// because it does not open a way of reading memory.
void Sampling_init(struct Sampling *sampling, const struct Attribution *parts,
                   const struct SampleClock *clock, NativeReader *reader);
uint64_t Sampling_ns(const struct Sampling *sampling, clockid_t id);
// Returns the ns of CPU time between two samples of a thread.
uint64_t Sampling_period_ns(const struct Sampling *sampling);
// Advances the shares to the time `now_ns`. `samples` is the number of samples
// since the last step. Time in which the machine was suspended does not count
// for shares.
struct ShareTime Sampling_advance(struct Sampling *sampling, uint64_t now_ns,
                                  uint64_t samples);
// Attributes CPU time and waiting time to the functions on a thread's stack.
void Sampling_attribute(struct Sampling *sampling, struct SampledThread *thread,
                        struct SampledStack *stack, const struct ShareTime *now,
                        double cpu_ns, double wait_ns);
