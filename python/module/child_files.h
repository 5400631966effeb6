// SPDX-License-Identifier: MIT
// How many timelines forked children may write: a number that a process shares
// with all that it forks.
#ifndef OCULAR_PYTHON_MODULE_CHILD_FILES_H
#define OCULAR_PYTHON_MODULE_CHILD_FILES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

// Functions of the module. Interpreter's lock held.
extern PyMethodDef ChildFiles_methods[];

#endif
