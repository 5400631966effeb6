// SPDX-License-Identifier: MIT
// A thread can lose the right to read the time stamp counter at any time, by
// prctl(PR_SET_TSC) or by seccomp's strict mode. A thread that has lost this
// right gets SIGSEGV when it reads the time stamp counter. In seccomp's strict
// mode the kernel also kills the thread for any system call except read, write,
// exit and sigreturn. Without a system call, a thread can detect strict mode
// only by reading the time stamp counter.
//
// If Ocular's own code reads the time stamp counter and this raises SIGSEGV,
// the guard handles the signal. In this case the reading is 0, and the guard
// counts as tripped in the whole process. On the program's threads Ocular's
// code checks TscGuard_has_tripped after each reading of the time stamp
// counter, before a system call or a lock.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

// TscGuard_has_tripped reads this variable.
extern atomic_bool tsc_guard_tripped;

static inline bool TscGuard_has_tripped(void)
{
    return atomic_load_explicit(&tsc_guard_tripped, memory_order_relaxed);
}

// Starts the guard in the state "not tripped". When the guard trips, it calls
// `on_trip` once, on the thread that lost the right to read the time stamp
// counter, possibly in a signal handler. If the program has its own handler for
// SIGSEGV, readings of the time stamp counter are not guarded.
void TscGuard_start(void (*on_trip)(void));
// Restores the default action of SIGSEGV. A guard that has tripped stays
// tripped after TscGuard_stop.
void TscGuard_stop(void);
// Trips the guard. The caller has found in another way that the time stamp
// counter cannot be read. Any thread may call TscGuard_trip. Only the first
// call of TscGuard_trip has an effect.
void TscGuard_trip(void);
