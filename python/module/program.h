// SPDX-License-Identifier: MIT
// Runs the program of `python -m ocular`. CPython itself reads the program,
// runs it and prints its errors, with the functions that `python` uses. The
// program's outermost frame has no frame of Ocular as its caller. So
// tracebacks, recursion depths and exit statuses are the same as with `python
// program`. Callers hold the GIL.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

// Table of the functions run_file, run_string, run_call and exit.
extern PyMethodDef Program_methods[];
