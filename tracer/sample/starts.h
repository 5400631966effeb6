// SPDX-License-Identifier: MIT
// Counts the threads that start, and decides which of these threads get a timer
// at their start. If many threads start, only one of several threads gets a
// timer, and this thread represents the others. Any thread calls Starts_begin
// with the GIL held. The sampler's thread calls Starts_step.
#ifndef OCULAR_TRACER_SAMPLE_STARTS_H
#define OCULAR_TRACER_SAMPLE_STARTS_H

#include "tracer/sample/cpu_timer.h"

struct Starts {
    _Atomic uint64_t begun;  // number of threads that have started
    _Atomic uint64_t ticks;  // ticks that making timers took
    _Atomic uint32_t one_in; // one of this many threads gets a timer
    // values of `begun` and of the time at the newest step
    uint64_t before, since_ns;
};

void Starts_init(struct Starts *starts);
// A thread calls this function when it starts with the PyThreadState `state`.
// One of `one_in` threads, chosen at random, gets a timer. `period_ns` is 0 if
// threads have no timers.
void Starts_begin(struct Starts *starts, struct CpuTimers *timers,
                  uintptr_t state, uint64_t period_ns);
// Computes `one_in` from the number of threads that have started since the last
// step.
void Starts_step(struct Starts *starts, uint64_t now_ns);
// Returns the seconds of CPU time that making timers took.
double Starts_s(const struct Starts *starts, const struct Clock *clock);

#endif
