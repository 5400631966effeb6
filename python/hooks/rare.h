// SPDX-License-Identifier: MIT
// The callbacks that are called seldom: of first sight of code (the discovery
// tool), of exceptions, of throw(), and of calls that are looked at once. The
// interpreter calls them on the traced thread, with its lock held.
//
// Those that are set for all code come from C extensions, too (Cython's, by
// PyMonitoring_FirePyResumeEvent), which may have an exception set: then they
// do nothing and return NULL, as None would become a SystemError.
#ifndef OCULAR_PYTHON_HOOKS_RARE_H
#define OCULAR_PYTHON_HOOKS_RARE_H

#include "python/hooks/state.h"

// An exception leaves through here.
PyObject *Rare_unwind(PyObject *self, PyObject *const *args, size_t nargsf,
                      PyObject *names);

// throw() and close() enter a suspended generator; so does its early end, as in
// any(), on 3.12. From 3.13 on CPython ends a generator without this event
// if it is not suspended inside a try or with block. Nothing is known of a
// dark one that this could go on with; but if the event cannot be local, it
// comes all the same, and is accounted for (docs/overhead.md).
PyObject *Rare_throw(PyObject *self, PyObject *const *args, size_t nargsf,
                     PyObject *names);

// A call instruction is about to call for the first time since it was armed.
PyObject *Rare_call(PyObject *self, PyObject *const *args, size_t nargsf,
                    PyObject *names);

// First sight of a code object at one of its RESUMEs: classifies it, and is
// never called again from there, but after another tool's restart_events(). The
// tracer's own event of this very invocation was lost, its tools having been
// read before: it is made up here. So it is if another thread has come first
// meanwhile, while a tool in Python (sys.settrace's function) was called for
// the same event.
PyObject *Rare_discover(PyObject *self, PyObject *const *args, size_t nargsf,
                        PyObject *names);

#endif
