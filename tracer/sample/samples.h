// SPDX-License-Identifier: MIT
// The samples that CPU timers have taken: collects them from all threads, also
// from those that end before they are on a list, and counts their cost and
// those that were lost. The sampler's thread; its counters may be read by
// anyone.
#ifndef OCULAR_TRACER_SAMPLE_SAMPLES_H
#define OCULAR_TRACER_SAMPLE_SAMPLES_H

#include "tracer/sample/sampling.h"
#include "tracer/sample/starts.h"

struct Samples {
    struct Sampling *sampling; // borrowed
    struct Starts starts;
    struct SampledStack stack; // of the sample that is being attributed
    int signal;                // wanted; 0: any, below 0: none

    counter_t collected; // ticks, before the newest step
    counter_t unknown;
    counter_t truncated;
    counter_t lost;
    counter_t ours;
    counter_t taken;
    counter_t handler_ticks;
    counter_t signal_used, error;
};

// Opens the timers.
void Samples_open(struct Samples *samples, struct Sampling *sampling,
                  int signal);
void Samples_close(struct Samples *samples);
// Takes over the threads that have begun since the step before.
void Samples_take_begun(struct Samples *samples);
// The number of samples that wait to be collected.
uint64_t Samples_waiting(const struct Samples *samples);
// Attributes those, and sets the timers.
void Samples_collect(struct Samples *samples, const struct ShareTime *now);

#endif
