// SPDX-License-Identifier: MIT
// Declares the hooks that are called seldom. CPython calls the discovery hook
// at the first call of code, and the other hooks at exceptions, at throw(), and
// once for each call instruction. All calls come on the traced thread with the
// GIL held. C extensions fire global events, too, and Cython's extensions use
// PyMonitoring_FirePyResumeEvent.
//
// A C extension may fire an event while an exception is set. While an exception
// is set, a hook does nothing and returns NULL, because CPython would turn None
// into a SystemError.
#ifndef OCULAR_PYTHON_HOOKS_RARE_H
#define OCULAR_PYTHON_HOOKS_RARE_H

#include "python/hooks/state.h"

// PY_UNWIND: an exception leaves a function.
PyObject *Rare_unwind(PyObject *self, PyObject *const *args, size_t nargsf,
                      PyObject *names);

// PY_THROW: throw() or close() enters a suspended generator. On 3.12 PY_THROW
// also reports the early end of a generator, as in any(). From 3.13 on CPython
// fires no event if the generator is not suspended inside a try or with block.
// A dark generator has no open frame with which this hook could continue. A
// global event also comes for dark generators, and its cost is accounted for
// (docs/overhead.md).
PyObject *Rare_throw(PyObject *self, PyObject *const *args, size_t nargsf,
                     PyObject *names);

// CALL: a call instruction is about to call for the first time since it was
// armed.
PyObject *Rare_call(PyObject *self, PyObject *const *args, size_t nargsf,
                    PyObject *names);

// PY_START or PY_RESUME: a RESUME instruction of a code object runs for the
// first time. The hook classifies the code and disables its event at this
// instruction. Only restart_events() of another tool enables the event again.
// The tracer misses this event, because CPython had read the set of tools
// before the tracer's events were set. So the discovery hook counts the event.
// The tracer also misses the event if another thread came first, while CPython
// ran a tool written in Python (a sys.settrace function) for the same event.
PyObject *Rare_discover(PyObject *self, PyObject *const *args, size_t nargsf,
                        PyObject *names);

#endif
