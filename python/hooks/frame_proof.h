// SPDX-License-Identifier: MIT
// Checks at import that CPython's frames have the layout for which Ocular was
// compiled (frame_stack.h). FrameProof_check reads the running frames by that
// layout and compares them with the results of CPython's own functions. If a
// field has moved in CPython, the traced program would crash.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tracer/sample/walk.h"

// Compares code, caller, instruction and owner of the calling thread's frames.
// Returns 0, or -1 with an ImportError. Reads the memory by a system call, so
// that a wrong layout cannot cause a fault. If the kernel forbids the system
// call, the function compares nothing and returns 0. The caller holds the GIL.
int FrameProof_check(const struct FrameLayout *layout);
