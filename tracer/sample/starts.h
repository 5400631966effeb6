// SPDX-License-Identifier: MIT
// Threads that are sampled from their first code on: their rate, and which of
// them get a timer. If they are many, one in several gets one and represents
// the others. They begin on any thread, with the interpreter's lock; the
// sampler's thread sets the rate.
#ifndef OCULAR_TRACER_SAMPLE_STARTS_H
#define OCULAR_TRACER_SAMPLE_STARTS_H

#include "tracer/sample/cpu_timer.h"

struct Starts {
    _Atomic uint64_t begun;    // threads that have begun
    _Atomic uint64_t ticks;    // the time of making their timers
    _Atomic uint32_t one_in;   // one thread in so many gets a timer
    uint64_t before, since_ns; // at the newest step
};

void Starts_init(struct Starts *starts);
// The calling thread begins, and has that PyThreadState: gives it a timer if it
// is its turn. A period of 0: none has timers.
void Starts_begin(struct Starts *starts, struct CpuTimers *timers,
                  uintptr_t state, uint64_t period_ns);
// Chooses which part of them gets a timer from here on, by the number that have
// begun since the step before.
void Starts_step(struct Starts *starts, uint64_t now_ns);
// CPU time that was taken at starts.
double Starts_s(const struct Starts *starts, const struct Clock *clock);

#endif
