// SPDX-License-Identifier: MIT
// Declares the functions of the extension module for `ocular convert`. Callers
// hold the GIL, and the functions release the GIL while they convert.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyMethodDef Recordings_methods[];
