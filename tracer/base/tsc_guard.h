// SPDX-License-Identifier: MIT
// A thread may lose the right to read the time stamp counter at any time, by
// prctl(PR_SET_TSC) or by seccomp's strict mode. Reading the counter then
// raises SIGSEGV. In strict mode the kernel also kills the thread for any
// system call except read, write, exit and sigreturn. Reading the counter is
// the only way for a thread to detect strict mode without a system call.
//
// If reading the counter in our own code raises SIGSEGV, the guard handles the
// signal. The result of the reading is then 0, and the guard has tripped for
// the whole process. On the program's threads our code checks
// TscGuard_has_tripped after each reading of the counter, before a system call
// or a lock.
#ifndef OCULAR_TRACER_BASE_TSC_GUARD_H
#define OCULAR_TRACER_BASE_TSC_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>

// TscGuard_has_tripped reads this variable
extern atomic_bool tsc_guard_tripped;

static inline bool TscGuard_has_tripped(void)
{
    return atomic_load_explicit(&tsc_guard_tripped, memory_order_relaxed);
}

// Starts the guard in the state "not tripped". The guard calls `on_trip` once
// when it trips, on the thread that lost the right to the counter, possibly in
// a signal handler. If the program has its own handler for SIGSEGV, the counter
// is not guarded.
void TscGuard_start(void (*on_trip)(void));
// Restores the default action of SIGSEGV. A guard that has tripped stays
// tripped.
void TscGuard_stop(void);
// Trips the guard. A caller that has found in another way that the counter
// cannot be read calls this function. Any thread may call this function. Only
// the first call has an effect.
void TscGuard_trip(void);

#endif
