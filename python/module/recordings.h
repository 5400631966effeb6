// SPDX-License-Identifier: MIT
// The C side of `ocular convert`. Callers hold the GIL, which converting
// releases.
#ifndef OCULAR_PYTHON_MODULE_RECORDINGS_H
#define OCULAR_PYTHON_MODULE_RECORDINGS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyMethodDef Recordings_methods[];

#endif
