// SPDX-License-Identifier: MIT
// A timer's signal carries a slot's number instead of a pointer. A slot says
// which timer is meant, if it is still there, and whether a handler uses it.
// Slots are the process's and never freed. Handlers on any thread find them;
// the thread that makes a timer takes one.
#ifndef OCULAR_TRACER_SAMPLE_TIMER_SLOT_H
#define OCULAR_TRACER_SAMPLE_TIMER_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct CpuTimer;

// Taken, and no signal is on its way yet.
#define TIMER_CLAIMED ((struct CpuTimer *)1)

struct TimerSlot {
    struct CpuTimer *_Atomic timer; // NULL: free, or its timer is gone
    _Atomic uint32_t generation;
    // Handlers that run, also those of signals that have come too late: their
    // timer is gone, and the slot may be another's by now.
    _Atomic uint32_t busy;
};

// NULL: none has that number, nor a larger one.
struct TimerSlot *TimerSlot_find(uint32_t number);
// A free one is claimed, in a new generation, for the timer that the caller
// puts there once it is made. false: memory, or all are taken. Any thread.
bool TimerSlot_take(uint32_t *number);

#endif
