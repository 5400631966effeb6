// SPDX-License-Identifier: MIT
// Ocular's own cost, for tests and measuring programs: functions of the module.
// Interpreter's lock held.
#ifndef OCULAR_PYTHON_MODULE_MEASURES_H
#define OCULAR_PYTHON_MODULE_MEASURES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

// hook_cost, heap_used and holds, for the module.
extern PyMethodDef Measures_methods[];

#endif
