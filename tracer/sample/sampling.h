// SPDX-License-Identifier: MIT
// What samples and observations have in common: the threads, their timers, how
// memory is read, and the time and the sums that all shares are of. One thread
// changes it, the sampler's; its counters and shares may be read by anyone.
#ifndef OCULAR_TRACER_SAMPLE_SAMPLING_H
#define OCULAR_TRACER_SAMPLE_SAMPLING_H

#include "tracer/sample/sample_clock.h"
#include "tracer/sample/sampled_threads.h"

struct Sampling {
    struct Attribution attribution; // its registry is borrowed
    struct CallEdges edges;
    struct Flame flame;
    struct SampledThreads threads;
    struct CpuTimers timers;
    struct Memory memory;
    struct SampleClock clock;
    struct ShareClock time;
    uint64_t stepped_ns; // CLOCK_MONOTONIC of the newest step
    counter_t hz;      // a double's bits: samples a second of CPU time, wanted
    counter_t samples; // of running threads, observations among them
    struct ShareValue elsewhere;
};

// Without what may fail: the memory is closed, there are no threads.
void Sampling_init(struct Sampling *sampling, const struct Attribution *parts,
                   const struct SampleClock *clock);
uint64_t Sampling_ns(const struct Sampling *sampling, clockid_t id);
struct ShareTime Sampling_now(const struct Sampling *sampling);
// Between two samples of a thread, of its CPU time.
uint64_t Sampling_period_ns(const struct Sampling *sampling);
// The time since the step before, with so many samples; a machine that slept
// had no time meanwhile.
struct ShareTime Sampling_advance(struct Sampling *sampling, uint64_t now_ns,
                                  uint64_t samples);
// The time goes to who is on the stack.
void Sampling_attribute(struct Sampling *sampling, struct SampledThread *thread,
                        const struct SampledStack *stack,
                        const struct ShareTime *now, double cpu_ns,
                        double wait_ns);

#endif
