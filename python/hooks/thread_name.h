// SPDX-License-Identifier: MIT
// The name that Python's threading module knows a thread by, read without
// running a line of Python code. Interpreter's lock held.
#ifndef OCULAR_PYTHON_HOOKS_THREAD_NAME_H
#define OCULAR_PYTHON_HOOKS_THREAD_NAME_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdint.h>

// The name of the thread with that pthread_t. Empty if threading is not
// imported or does not know the thread.
void ThreadName_get(uintptr_t thread, char *out, size_t size);
void ThreadName_own(char *out, size_t size); // the calling thread's

#endif
