// SPDX-License-Identifier: MIT
// Callers of dark code, found by the hooks on calls. A call that no hook of the
// callee sees makes no edge, and its time would pass for its caller's own. So
// each call instruction of accepted code is inspected once, before it calls.
// Called by the traced thread with the interpreter's lock.
#ifndef OCULAR_PYTHON_HOOKS_CALLEES_H
#define OCULAR_PYTHON_HOOKS_CALLEES_H

#include "python/hooks/state.h"

// 0, or -1 with an exception.
int Callees_init(struct State *state);
// The attribute of a class or of its bases, as type's own look-up finds it.
// Borrowed; NULL: none.
PyObject *Callees_in_class(PyTypeObject *type, PyObject *name);
// `caller` is about to call `callable`: notes the edge to the Python functions
// that are known to run then, and arms those that are dark for a few calls, so
// that the caller's first calls can be timed. No Python code runs.
void Callees_note(struct State *state, struct Code *caller, PyObject *callable);

#endif
