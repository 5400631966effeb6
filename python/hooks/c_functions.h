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

// Notes that the call instruction at code unit `unit` of the code object
// `caller` is about to call `callable`, and returns the C function's stand-in
// as a borrowed reference. If `callable` is no C function, returns NULL, and
// the instruction has no C function any more. Reading the name of an object of
// an extension may run code of the extension.
PyObject *CFunctions_note(struct State *state, PyObject *caller, uint32_t unit,
                          PyObject *callable);
// CFunctions_begin also counts the beginning of the call, and CFunctions_end
// its end. Calls of Python functions are not counted.
void CFunctions_begin(struct State *state, PyObject *caller, uint32_t unit,
                      PyObject *callable);
void CFunctions_end(struct State *state, PyObject *callable);
// Forgets all C functions at the end of a trace.
void CFunctions_stop(struct State *state);
