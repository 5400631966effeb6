// SPDX-License-Identifier: MIT
// A timer's signal carries a slot's number instead of a pointer. The slot has a
// pointer to the timer, if the timer still exists, and the number of handlers
// that use the slot. Slots belong to the process and are never freed. Signal
// handlers on any thread search for slots. A thread that makes a timer takes a
// slot.
#ifndef OCULAR_TRACER_SAMPLE_TIMER_SLOT_H
#define OCULAR_TRACER_SAMPLE_TIMER_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct CpuTimer;

// The slot is taken, and its timer cannot send a signal yet.
#define TIMER_CLAIMED ((struct CpuTimer *)1)

struct TimerSlot {
    // NULL if the slot is free or its timer is gone
    struct CpuTimer *_Atomic timer;
    _Atomic uint32_t generation;
    // The number of handlers that run, including handlers for signals that have
    // come too late. The timer of a late signal is gone, and the slot may
    // belong to another timer.
    _Atomic uint32_t busy;
};

// Returns a slot. Returns NULL if no slot has this number or a larger number.
struct TimerSlot *TimerSlot_find(uint32_t number);
// Claims a free slot and begins a new generation of the slot. The caller makes
// the timer and then stores the timer in the slot. Returns false if memory is
// out or all slots are taken. Any thread may call this function.
bool TimerSlot_take(uint32_t *number);

#endif
