// SPDX-License-Identifier: MIT
// What the package hands over to start a trace, read into a request. The
// module's function start(); interpreter's lock held.
#ifndef OCULAR_PYTHON_MODULE_START_H
#define OCULAR_PYTHON_MODULE_START_H

#include "python/service/service.h"

// Who starts it.
enum { BY_PROGRAM, BY_CHILD, BY_WRITING_CHILD, BY_ACTIVATION };

extern const char Start_doc[];
// None, or NULL with an exception.
PyObject *Start_trace(struct State *state, PyObject *args);

#endif
