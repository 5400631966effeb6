// SPDX-License-Identifier: MIT
// Counts the forked children that have asked to write a timeline. A process
// shares this count with all its children.
#ifndef OCULAR_PYTHON_MODULE_CHILD_FILES_H
#define OCULAR_PYTHON_MODULE_CHILD_FILES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

// Functions of the extension module. Callers hold the GIL.
extern PyMethodDef ChildFiles_methods[];

#endif
