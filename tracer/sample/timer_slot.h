// SPDX-License-Identifier: MIT
// A timer's signal carries a slot's number instead of a pointer. A slot says
// which timer is meant, if the timer still exists, and whether a handler uses
// the timer. Slots belong to the process and are never freed. Handlers on any
// thread find slots. A thread that makes a timer takes a slot.
#ifndef OCULAR_TRACER_SAMPLE_TIMER_SLOT_H
#define OCULAR_TRACER_SAMPLE_TIMER_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct CpuTimer;

// The slot is taken, and its timer cannot send a signal yet.
#define TIMER_CLAIMED ((struct CpuTimer *)1)

struct TimerSlot {
    // NULL: the slot is free, or its timer is gone
    struct CpuTimer *_Atomic timer;
    _Atomic uint32_t generation;
    // The number of handlers that run, also for signals that have come too
    // late. The timer of a late signal is gone, and the slot may be another
    // timer's.
    _Atomic uint32_t busy;
};

// Returns NULL if no slot has this number or a larger one.
struct TimerSlot *TimerSlot_find(uint32_t number);
// Claims a free slot, in a new generation. The caller stores its timer in the
// slot after the timer is made. Returns false if memory is out or all slots are
// taken. Any thread may call this function.
bool TimerSlot_take(uint32_t *number);

#endif
