// SPDX-License-Identifier: MIT
// The number of timelines that forked children may still write. A process
// shares it with all that it forks.
#ifndef OCULAR_PYTHON_MODULE_CHILD_FILES_H
#define OCULAR_PYTHON_MODULE_CHILD_FILES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

// Functions of the module. Interpreter's lock held.
extern PyMethodDef ChildFiles_methods[];

#endif
