// SPDX-License-Identifier: MIT
// Checks the layout of CPython's frames that we were given (frame_stack.h).
// Once, at import, it is compared with CPython's own answers about the frames
// that run then. A field that has moved would crash the traced program.
#ifndef OCULAR_PYTHON_HOOKS_FRAME_PROOF_H
#define OCULAR_PYTHON_HOOKS_FRAME_PROOF_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tracer/sample/walk.h"

// Compares the calling thread's frames with the layout: code, caller, place in
// the code, and owner. 0, or -1 with an ImportError. Reads through the kernel,
// so that a wrong layout faults nowhere; if that is forbidden, nothing is
// compared. Interpreter's lock held.
int FrameProof_check(const struct FrameLayout *layout);

#endif
