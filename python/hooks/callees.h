// SPDX-License-Identifier: MIT
// Finds the callers of dark code by the hooks on call instructions. A dark
// function fires no hook when it is called, so its time would count as the
// caller's own time. Therefore Ocular inspects each call instruction of
// accepted code once, before it calls. The traced thread calls these functions
// with the GIL held.
#pragma once

#include "python/hooks/state.h"

// Makes the names of attributes that hooks look up. Returns 0, or -1 with an
// exception.
int Callees_init(struct State *state);
// Returns a global variable of a module as a borrowed reference, or NULL if the
// program has not imported the module or the variable is missing. Runs no
// Python code and leaves no exception set.
PyObject *Callees_in_module(const char *module, const char *name);
// Returns an attribute that only the instance has, as a borrowed reference.
// Returns NULL if it is missing, or if reading it could run Python code.
PyObject *Callees_in_instance(PyObject *object, PyObject *name);
// Notes call edges from `caller`, which is about to call `callable`, to the
// Python functions that this call will run. If one of these functions is dark,
// arms it for a few calls, so that the caller's first calls can be timed. Runs
// no Python code.
void Callees_note(struct State *state, struct Code *caller, PyObject *callable);
