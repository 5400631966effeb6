// SPDX-License-Identifier: MIT
// Writes the program's marks and spans into the timeline. The package calls the
// functions on threads of the program.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

// The functions has_timeline, mark, span_begin and span_end of the extension
// module. Callers hold the GIL.
extern PyMethodDef Marks_methods[];
