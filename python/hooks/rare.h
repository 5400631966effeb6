// SPDX-License-Identifier: MIT
// The hooks that are called seldom. The discovery hook is called at the first
// call of code, the others at exceptions, at throw(), and once for each call
// instruction. CPython calls them on the traced thread with the GIL held.
//
// C extensions fire global events, too: Cython's do by
// PyMonitoring_FirePyResumeEvent. A C extension may fire an event while an
// exception is set. A hook then does nothing and returns NULL, because CPython
// would turn None into a SystemError.
#ifndef OCULAR_PYTHON_HOOKS_RARE_H
#define OCULAR_PYTHON_HOOKS_RARE_H

#include "python/hooks/state.h"

// PY_UNWIND: an exception leaves a function.
PyObject *Rare_unwind(PyObject *self, PyObject *const *args, size_t nargsf,
                      PyObject *names);

// PY_THROW: throw() or close() enters a suspended generator. On 3.12 the early
// end of a generator, as in any(), is this event, too. From 3.13 on CPython
// fires no event if the generator is not suspended inside a try or with block.
// A dark generator has no open frame for this event to continue. A global event
// comes for dark generators as well, and its cost is accounted for
// (docs/overhead.md).
PyObject *Rare_throw(PyObject *self, PyObject *const *args, size_t nargsf,
                     PyObject *names);

// CALL: a call instruction is about to call for the first time since it was
// armed.
PyObject *Rare_call(PyObject *self, PyObject *const *args, size_t nargsf,
                    PyObject *names);

// The first PY_START or PY_RESUME of a code object at one of its RESUME
// instructions. The hook classifies the code and disables its event there,
// which only another tool's restart_events() undoes. CPython had read the set
// of tools before the tracer's events were set, so the tracer misses this event
// and the discovery hook counts it instead. The tracer also misses it if
// another thread was first, while CPython ran a tool written in Python (a
// sys.settrace function) for the same event.
PyObject *Rare_discover(PyObject *self, PyObject *const *args, size_t nargsf,
                        PyObject *names);

#endif
