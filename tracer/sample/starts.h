// SPDX-License-Identifier: MIT
// Threads that are sampled from their first code on: counts these threads, and
// decides which of them get a timer. If many threads start, only one in several
// gets a timer and represents the others. Any thread calls Starts_begin with
// the GIL held. The sampler's thread calls Starts_step.
#ifndef OCULAR_TRACER_SAMPLE_STARTS_H
#define OCULAR_TRACER_SAMPLE_STARTS_H

#include "tracer/sample/cpu_timer.h"

struct Starts {
    _Atomic uint64_t begun;    // threads that have started
    _Atomic uint64_t ticks;    // ticks for making timers
    _Atomic uint32_t one_in;   // one thread in this many gets a timer
    uint64_t before, since_ns; // `begun` and `now_ns` at the newest step
};

void Starts_init(struct Starts *starts);
// Called by a thread that starts with the PyThreadState `state`. Gives the
// thread a timer if it is the thread's turn. `period_ns` is 0 if threads have
// no timers.
void Starts_begin(struct Starts *starts, struct CpuTimers *timers,
                  uintptr_t state, uint64_t period_ns);
// Chooses the part of new threads that gets a timer from now on, by the number
// of threads that have started since the last step.
void Starts_step(struct Starts *starts, uint64_t now_ns);
// Returns the s of CPU time that making timers took.
double Starts_s(const struct Starts *starts, const struct Clock *clock);

#endif
