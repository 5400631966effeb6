// SPDX-License-Identifier: MIT
#include "tracer/sample/sampling.h"

void Sampling_init(struct Sampling *sampling, const struct Attribution *parts,
                   const struct SampleClock *clock, NativeReader *reader)
{
    static const struct SampleClock kernel = {SampleClock_kernel_ns, NULL};

    sampling->clock = clock ? *clock : kernel;
    sampling->attribution = *parts;
    sampling->attribution.memory = &sampling->memory;
    sampling->attribution.edges = &sampling->edges;
    sampling->attribution.flame = &sampling->flame;
    sampling->attribution.native = &sampling->native;
    sampling->timers.natives = &sampling->native.table;
    sampling->gil.attribution = &sampling->attribution;
    sampling->gil.threads = &sampling->threads;
    Flame_init(&sampling->flame);
    Native_init(&sampling->native, reader);
    sampling->memory.fd = -1;
}

uint64_t Sampling_ns(const struct Sampling *sampling, clockid_t id)
{
    return SampleClock_ns(&sampling->clock, id);
}

uint64_t Sampling_period_ns(const struct Sampling *sampling)
{
    return (uint64_t)(1e9 / Counter_get_double(&sampling->hz));
}

struct ShareTime Sampling_advance(struct Sampling *sampling, uint64_t now_ns,
                                  uint64_t samples)
{
    sampling->step_ns = now_ns - sampling->stepped_ns;
    sampling->stepped_ns = now_ns;
    ShareClock_advance(&sampling->time, (double)sampling->step_ns,
                       (double)samples);
    return ShareClock_now(&sampling->time);
}

void Sampling_attribute(struct Sampling *sampling, struct SampledThread *thread,
                        struct SampledStack *stack, const struct ShareTime *now,
                        double cpu_ns, double wait_ns)
{
    stack->call = &thread->long_call;
    ShareValue_add(&sampling->elsewhere, now,
                   Attribution_add(&sampling->attribution, stack, now,
                                   &thread->functions, cpu_ns, wait_ns));
}
