// SPDX-License-Identifier: MIT
// The type Watched of the extension module is a viewer's connection to another
// process, for `ocular agent`. A traced process does not use it.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

// Adds the type Watched and the function served() to the module. Returns 0, or
// -1 with an exception.
int Watched_add(PyObject *module);
