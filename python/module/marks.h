// SPDX-License-Identifier: MIT
// Marks and spans that the program puts into its timeline.
#ifndef OCULAR_PYTHON_MODULE_MARKS_H
#define OCULAR_PYTHON_MODULE_MARKS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

// Functions of the module. Interpreter's lock held.
extern PyMethodDef Marks_methods[];

#endif
