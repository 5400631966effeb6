// SPDX-License-Identifier: MIT
// Reads the settings of the package into a request, and starts a trace. The
// module's function start(); interpreter's lock held.
#ifndef OCULAR_PYTHON_MODULE_START_H
#define OCULAR_PYTHON_MODULE_START_H

#include "python/service/service.h"

// The side that starts it.
enum { BY_PROGRAM, BY_CHILD, BY_WRITING_CHILD, BY_ACTIVATION };

extern const char Start_doc[];
// None, or NULL with an exception.
PyObject *Start_trace(struct State *state, PyObject *args);

#endif
