// SPDX-License-Identifier: MIT
// Reads a thread's name in Python's threading module without running Python
// code. Callers hold the GIL.
#ifndef OCULAR_PYTHON_HOOKS_THREAD_NAME_H
#define OCULAR_PYTHON_HOOKS_THREAD_NAME_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>

// Stores the name of the thread with the pthread_t `thread` in `out`, or an
// empty string if threading is not imported or does not know the thread.
void ThreadName_get(uintptr_t thread, char *out, size_t size);
void ThreadName_own(char *out, size_t size); // the calling thread's

#endif
