// SPDX-License-Identifier: MIT
// Gives a row to each C function that a traced program calls. A code object
// that never runs stands for the C function, as for the garbage collector
// (garbage_watch.h). The hook of the CALL event reports the callables. The
// sampler then credits the time in C to the C function instead of its caller.
// Callers hold the GIL. No function leaves an exception set unless its comment
// says so.
#pragma once

#include "python/hooks/state.h"

// Makes the Python objects that c_functions.c needs. Returns 0, or -1 with an
// exception.
int CFunctions_init(struct State *state);

enum CEvent {
    C_ENDS,     // No hit was written, and the call instruction needs no further
                // events in this window.
    C_GOES_ON,  // The next calls of the instruction need events, too.
    C_IS_KNOWN, // Like C_GOES_ON, but the called function is not new.
};

// Notes that the call instruction at code unit `unit` of `caller` is about to
// call `callable`. The hook began at `begin`, in ticks. If calls are counted
// now, counts the call of a C function. Reading the name of an object of an
// extension may run code of the extension.
enum CEvent CFunctions_begin(struct State *state, struct Code *caller,
                             uint32_t unit, PyObject *callable, uint64_t begin);
// Counts the end of a call of a C function.
void CFunctions_end(struct State *state, struct Code *caller, uint32_t unit,
                    PyObject *callable);
// Forgets all C functions at the end of a trace.
void CFunctions_stop(struct State *state);
