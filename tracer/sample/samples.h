// SPDX-License-Identifier: MIT
// Collects the samples of the CPU timers of all threads, even of threads that
// end before a list contains them. Counts the cost of the samples, and the
// number of lost samples. Only the sampler's thread calls this code. Any thread
// may read the counters.
#ifndef OCULAR_TRACER_SAMPLE_SAMPLES_H
#define OCULAR_TRACER_SAMPLE_SAMPLES_H

#include "tracer/sample/sampling.h"
#include "tracer/sample/starts.h"

struct Samples {
    struct Sampling *sampling; // borrowed
    struct Starts starts;
    // Stack of the sample that is attributed at the moment.
    struct SampledStack stack;
    int signal; // the wanted signal; 0 for any signal, below 0 for no signal

    counter_t collected; // ticks, read before the newest step began
    counter_t unknown;
    counter_t truncated;
    counter_t lost;
    counter_t ours, ours_ns;
    counter_t taken;
    counter_t handler_ticks;
    counter_t signal_used, error;
};

// Opens the timers.
void Samples_open(struct Samples *samples, struct Sampling *sampling,
                  int signal);
void Samples_close(struct Samples *samples);
// Takes the timers of threads that have started since the last step.
void Samples_take_begun(struct Samples *samples);
// Returns the number of samples that wait to be collected.
uint64_t Samples_waiting(const struct Samples *samples);
// Attributes the waiting samples, and checks the timers.
void Samples_collect(struct Samples *samples, const struct ShareTime *now);

#endif
