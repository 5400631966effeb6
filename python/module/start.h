// SPDX-License-Identifier: MIT
// The extension's function start() reads the package's settings into a struct
// Request and starts a trace. The caller holds the GIL.
#pragma once

#include "python/service/service.h"

// The caller that starts the trace.
enum { BY_PROGRAM, BY_CHILD, BY_WRITING_CHILD, BY_ACTIVATION };

extern const char Start_doc[];
// Returns None, or NULL with an exception.
PyObject *Start_trace(struct State *state, PyObject *args);
