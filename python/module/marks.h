// SPDX-License-Identifier: MIT
// Writes the program's marks and spans into the timeline.
#ifndef OCULAR_PYTHON_MODULE_MARKS_H
#define OCULAR_PYTHON_MODULE_MARKS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

// Functions of the extension module. Callers hold the GIL.
extern PyMethodDef Marks_methods[];

#endif
