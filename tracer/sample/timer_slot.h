// SPDX-License-Identifier: MIT
// struct TimerSlot connects the signal of a timer with the timer. A timer's
// signal contains the number of a slot, and no pointer. The slot points to the
// timer as long as the timer exists, and counts the signal handlers that use
// the slot. Slots belong to the process and are never freed. Signal handlers on
// any thread search for slots. A thread that makes a timer takes a slot.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct CpuTimer;

// TimerSlot.timer of a slot that a thread has taken for a timer that cannot
// send a signal yet.
#define TIMER_CLAIMED ((struct CpuTimer *)1)

struct TimerSlot {
    // The slot's timer. NULL if the slot is free or its timer was deleted.
    struct CpuTimer *_Atomic timer;
    _Atomic uint32_t generation;
    // Number of signal handlers that use the slot. The handler of a late signal
    // may use the slot when the signal's timer is gone and the slot already
    // belongs to another timer.
    _Atomic uint32_t busy;
};

// Returns the slot with the number `number`. Returns NULL if no slot has this
// number, and then no slot has a larger number either.
struct TimerSlot *TimerSlot_find(uint32_t number);
// Claims a free slot, stores its number in *number, and begins a new generation
// of the slot. The caller then makes a timer and stores it in the slot. Returns
// false if there is no memory or all slots are taken. Any thread may call
// TimerSlot_take.
bool TimerSlot_take(uint32_t *number);
// Returns true if no slot was in use by a signal handler when it was checked.
// If the result is true, all signal handlers that ran before the call have
// ended. TimerSlots_are_idle does not wait.
bool TimerSlots_are_idle(void);
