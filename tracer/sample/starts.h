// SPDX-License-Identifier: MIT
// struct Starts counts the threads that start, and decides which of them get a
// timer at their start. If many threads start, only one of several threads gets
// a timer, and represents the others, too. Any thread that holds the GIL may
// call Starts_begin. The sampler's thread calls Starts_step.
#pragma once

#include "tracer/sample/cpu_timer.h"

struct Starts {
    _Atomic uint64_t begun;  // Number of threads that have started.
    _Atomic uint64_t ticks;  // Ticks that it took to make timers.
    _Atomic uint32_t one_in; // Of `one_in` threads, one gets a timer.
    // Value of `begun`, and CLOCK_MONOTONIC in ns, at the sampler's newest
    // step.
    uint64_t before, since_ns;
};

void Starts_init(struct Starts *starts);
// Must be called by each Python thread when it starts. `state` is the thread's
// PyThreadState. One of `one_in` threads, chosen at random, gets a timer.
// `period_ns` is the CPU time between two samples, or 0 if threads have no
// timers.
void Starts_begin(struct Starts *starts, struct CpuTimers *timers,
                  uintptr_t state, uint64_t period_ns);
// Computes `one_in` from the number of threads that have started since the last
// step.
void Starts_step(struct Starts *starts, uint64_t now_ns);
// Returns the seconds of CPU time that it took to make timers.
double Starts_s(const struct Starts *starts, const struct Clock *clock);
