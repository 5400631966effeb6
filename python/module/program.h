// SPDX-License-Identifier: MIT
// The program that `python -m ocular` runs. CPython itself reads it, runs it
// and prints its errors, through the functions that `python` uses, and no frame
// is below it: tracebacks, depths and statuses are those of `python program`.
// Interpreter's lock held everywhere.
#ifndef OCULAR_PYTHON_MODULE_PROGRAM_H
#define OCULAR_PYTHON_MODULE_PROGRAM_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>

// run_file, run_string and run_call, for the module.
extern PyMethodDef Program_methods[];

#endif
