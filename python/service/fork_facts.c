// SPDX-License-Identifier: MIT
// This file includes CPython's internal headers, because no public header has
// the lock of the list of threads.
#define Py_BUILD_CORE 1
#include "python/service/fork_facts.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#if PY_VERSION_HEX >= 0x030D0000
#include <internal/pycore_lock.h>
#include <internal/pycore_runtime.h>
#endif

bool ForkFacts_list_is_locked(void)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyMutex_IsLocked(&_PyRuntime.interpreters.mutex);
#else
    return false;
#endif
}
