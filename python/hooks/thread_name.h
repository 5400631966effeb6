// SPDX-License-Identifier: MIT
// Reads a thread's name in Python's threading module without running Python
// code. Callers hold the GIL.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>

// Stores the name of the thread whose pthread_t is `thread` in `out`. Stores an
// empty string if threading is not imported or does not know the thread.
void ThreadName_get(uintptr_t thread, char *out, size_t size);
// Stores the name of the calling thread.
void ThreadName_own(char *out, size_t size);
