// SPDX-License-Identifier: MIT
// The C side of `ocular convert`. Interpreter's lock held; converting releases
// it.
#ifndef OCULAR_PYTHON_MODULE_RECORDINGS_H
#define OCULAR_PYTHON_MODULE_RECORDINGS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyMethodDef Recordings_methods[];

#endif
