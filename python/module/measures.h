// SPDX-License-Identifier: MIT
// Functions of the extension module that return Ocular's own cost, for tests
// and measuring programs. Callers hold the GIL.
#ifndef OCULAR_PYTHON_MODULE_MEASURES_H
#define OCULAR_PYTHON_MODULE_MEASURES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

// Table of the functions hook_cost, heap_used and holds.
extern PyMethodDef Measures_methods[];

#endif
