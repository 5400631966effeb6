// SPDX-License-Identifier: MIT
// Declares the hooks that are called seldom. CPython calls the discovery hook
// when code is called for the first time. CPython calls the other hooks at an
// exception, at throw(), and once for each call instruction. All calls come on
// the traced thread with the GIL held. C extensions fire global events, too,
// and Cython's extensions use PyMonitoring_FirePyResumeEvent.
//
// A C extension may fire an event while an exception is set. While an exception
// is set, a hook does nothing and returns NULL, because CPython would turn None
// into a SystemError.
#pragma once

#include "python/hooks/state.h"

// PY_UNWIND: an exception leaves a function.
PyObject *Rare_unwind(PyObject *self, PyObject *const *args, size_t nargsf,
                      PyObject *names);

// PY_THROW: throw() or close() enters a suspended generator. On 3.12 PY_THROW
// also reports the early end of a generator, as in any(). From 3.13 on CPython
// fires no event if the generator is not suspended inside a try or with block.
// For a dark generator the thread's record has no frame with which this hook
// could continue. If the event is global, CPython also calls this hook for dark
// generators. The cost of such calls of the hook is accounted for
// (docs/overhead.md).
PyObject *Rare_throw(PyObject *self, PyObject *const *args, size_t nargsf,
                     PyObject *names);

// CALL: a call instruction is about to call for the first time since it was
// armed.
PyObject *Rare_call(PyObject *self, PyObject *const *args, size_t nargsf,
                    PyObject *names);

// C_RETURN and C_RAISE: a C function has returned or raised.
PyObject *Rare_c_end(PyObject *self, PyObject *const *args, size_t nargsf,
                     PyObject *names);

// PY_START or PY_RESUME: a RESUME instruction of a code object runs for the
// first time. The hook classifies the code and disables the event at this
// instruction. Only restart_events() of another tool enables the event again.
// The tracer misses this event, because CPython had read the set of tools
// before the tracer's events were set. Therefore the discovery hook counts the
// event that the tracer has missed. A tool written in Python (a sys.settrace
// function) may let another thread run before CPython calls the discovery hook.
// The tracer also misses the event if that thread calls the same code first.
PyObject *Rare_discover(PyObject *self, PyObject *const *args, size_t nargsf,
                        PyObject *names);
