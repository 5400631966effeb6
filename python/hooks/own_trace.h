// SPDX-License-Identifier: MIT
// The calling thread's record, which every hook begins with. A thread's first
// hook makes it; it ends with its thread. Interpreter's lock held.
#ifndef OCULAR_PYTHON_HOOKS_OWN_TRACE_H
#define OCULAR_PYTHON_HOOKS_OWN_TRACE_H

#include "python/hooks/state.h"

// glibc keeps a surplus of static TLS for libraries loaded later, and one
// pointer fits; elsewhere the default model is safe.
#ifdef __GLIBC__
#define OWN_TRACE_TLS __attribute__((tls_model("initial-exec")))
#else
#define OWN_TRACE_TLS
#endif

// NULL: it has none.
extern _Thread_local struct ThreadTrace *own_trace OWN_TRACE_TLS;

// The calling thread's record, made if it has none; NULL when memory is out.
struct ThreadTrace *OwnTrace_get(struct State *state, uint64_t ticks);
// The calling thread's PyThreadState: the one that has the interpreter's lock,
// or, if it has let go of that, had it at its last event; 0: not known.
// Async-signal-safe.
uintptr_t OwnTrace_state(void);
// Ends the calling thread's record, as if the thread ended.
void OwnTrace_end(void);

#endif
