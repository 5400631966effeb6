// SPDX-License-Identifier: MIT
// A thread may lose the right to read the time stamp counter at any time: by
// seccomp's strict mode, which also kills it for any system call but read,
// write, exit and sigreturn, and by prctl(PR_SET_TSC). Reading the counter
// raises SIGSEGV then. Nothing else shows a thread that it is in strict mode
// without a system call.
//
// The guard handles that signal where our own code reads the counter: the
// reading is 0, and the guard has tripped, for the whole process. All our code
// on the program's threads asks for that after it has read the counter and
// before it makes a system call or takes a lock.
#ifndef OCULAR_TRACER_BASE_TSC_GUARD_H
#define OCULAR_TRACER_BASE_TSC_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>

extern atomic_bool tsc_guard_tripped; // see TscGuard_has_tripped

static inline bool TscGuard_has_tripped(void)
{
    return atomic_load_explicit(&tsc_guard_tripped, memory_order_relaxed);
}

// From now on; it has not tripped. `on_trip` is called as it does, on the
// thread that has lost the right, perhaps in a signal handler. If the program
// has a handler for SIGSEGV nothing is guarded.
void TscGuard_start(void (*on_trip)(void));
// The signal has its default action again. A guard that has tripped stays.
void TscGuard_stop(void);
// Somebody has found out otherwise. Any thread; the first time only counts.
void TscGuard_trip(void);

#endif
