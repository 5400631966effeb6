// SPDX-License-Identifier: MIT
// Counts exceptions by the event RAISE. CPython calls the hook when an
// exception begins, and again in each function into which the exception passes.
// The event is global and cannot be disabled, so the hook does as little as
// possible, and is switched off for a time if there are too many exceptions
// (tracer/hook/exceptions.h). Callers hold the GIL.
#pragma once

#include "python/hooks/state.h"

// The hook of the event RAISE, which CPython calls with an exception.
PyObject *RaiseWatch_raise(PyObject *self, PyObject *const *args, size_t nargsf,
                           PyObject *names);
// Begins to count. Called before the event RAISE is switched on.
void RaiseWatch_start(struct State *state);
// Switches the event RAISE on again if it is time to do so. `rate` is the
// seconds per second that tracing may take. The governor calls this function.
void RaiseWatch_look(struct State *state, double rate);
// Releases the references to types. Must be called after the last hook has run.
void RaiseWatch_stop(struct State *state);
