// SPDX-License-Identifier: MIT
// Finds the calling thread's record (struct ThreadTrace). A thread's first hook
// makes the record, and the record ends when the thread exits. Callers hold the
// GIL.
#pragma once

#include "python/hooks/state.h"

// glibc reserves some static TLS for libraries that are loaded later, and the
// space is enough for one pointer. With other C libraries only the default
// model of thread-local storage is safe.
#ifdef __GLIBC__
#define OWN_TRACE_TLS __attribute__((tls_model("initial-exec")))
#else
#define OWN_TRACE_TLS
#endif

// The calling thread's record, or NULL.
extern _Thread_local struct ThreadTrace *own_trace OWN_TRACE_TLS;

// Returns the calling thread's record. Makes a record if the thread has none.
// Returns NULL if memory is out.
struct ThreadTrace *OwnTrace_get(struct State *state, uint64_t ticks);
// Returns the address of the calling thread's current PyThreadState. If the
// thread has released the GIL, returns the address of the PyThreadState of the
// thread's last event, or 0 if the thread had no event. Async-signal-safe. The
// caller needs no GIL.
uintptr_t OwnTrace_state(void);
// Ends the calling thread's record, as the thread's exit would.
void OwnTrace_end(void);
