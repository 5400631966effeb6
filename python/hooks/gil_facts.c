// SPDX-License-Identifier: MIT
// This file includes CPython's internal headers, because no public header has
// the GIL and the lock of the list of threads.
#define Py_BUILD_CORE 1
#include "python/hooks/gil_facts.h"
#include "python/hooks/interpreter_facts.h"

#include <internal/pycore_interp.h>
#if PY_VERSION_HEX >= 0x030D0000
#include <internal/pycore_lock.h>
#include <internal/pycore_runtime.h>
#endif

#include <math.h>
#include <stddef.h>

// In PyThreadState.eval_breaker, the bit that requests a thread to drop the GIL
// (pycore_ceval.h). This bit is the same in all versions of CPython from 3.13
// on.
#define DROP_REQUEST_BIT 1u

// Checks the layout of CPython's struct by two known values. Returns true if,
// read by this layout, the calling thread holds the GIL and the switch interval
// is that of sys.getswitchinterval().
static bool is_as_expected(struct State *state, const struct Gil *gil)
{
    if (InterpreterFacts_switch_interval(state) < 0) {
        PyErr_Clear();
        return false;
    }
    return Gil_holder(gil) == (uintptr_t)PyThreadState_Get() &&
           fabs((double)*gil->interval_us - 1e6 * state->switch_interval) < 2;
}

void GilFacts_find(struct State *state)
{
#ifdef __GLIBC__ // another C library may wait at an address outside the struct
    struct _ceval_state *ceval = &PyInterpreterState_Get()->ceval;
    const struct _gil_runtime_state *from = ceval->gil;

    if (!from)
        return;
    state->gil = (struct Gil)
    {
        .from = (uintptr_t)from, .to = (uintptr_t)(from + 1),
        .locked = (const void *)&from->locked,
        .last_holder = (const void *)&from->last_holder,
        .switches = &from->switch_number, .interval_us = &from->interval,
#if PY_VERSION_HEX >= 0x030D0000
        .thread_request = offsetof(PyThreadState, eval_breaker),
        .request_bit = DROP_REQUEST_BIT,
#else
        .request = (const void *)&ceval->gil_drop_request,
#endif
        .wait = Gil_wait,
    };
    if (is_as_expected(state, &state->gil))
        state->engine.layout.gil = &state->gil;
#endif
}

bool GilFacts_list_is_locked(void)
{
#if PY_VERSION_HEX >= 0x030D0000
    return PyMutex_IsLocked(&_PyRuntime.interpreters.mutex);
#else
    return false;
#endif
}
