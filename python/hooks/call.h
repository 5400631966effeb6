// SPDX-License-Identifier: MIT
// One event on the slow path: whose it is, looked up and checked, and how a
// call begins or ends there with all that may come with it. Hooks on the traced
// thread, interpreter's lock held.
#ifndef OCULAR_PYTHON_HOOKS_CALL_H
#define OCULAR_PYTHON_HOOKS_CALL_H

#include "python/hooks/state.h"

// What a callback knows of its event once it has looked.
struct Call {
    struct ThreadTrace *trace;
    struct Code *code;
    const PyThreadState *state;
    size_t unit;
    uint64_t ticks;
    uint32_t depth;
};

// An offset in bytes as a code unit. Offsets are small and never negative; what
// else a stranger may pass ends in a unit that is out of bounds, or of no use.
// That it is an int is not asked on the fast path (three more instructions
// of about a hundred): only who takes a hook out of sys.monitoring and calls it
// by hand can pass another object, of which a few bytes are read then, at worst
// those behind it (tests/python/test_hooks.py).
OCULAR_HOT size_t Call_unit(PyObject *offset)
{
    return ((PyLongObject *)offset)->long_value.ob_digit[0] / 2;
}

// false: nothing to do here (not accepted, not a code object, no memory).
bool Call_look(struct Call *call, PyObject *const *args, size_t nargsf,
               uint64_t ticks);
// What was done since the event is our cost, and neither the caller's time nor
// the callee's. Hooks are timed on the fast path, which does none of it.
void Call_charge(struct Call *call);
// Its event says that a call goes on, not that one begins.
bool Call_resumes(const struct Call *call);
// ThreadTrace_enter, with what the slow path and the rare events do before it.
bool Call_enter(struct Call *call, bool resumes);
// ThreadTrace_leave, at a site, or NULL where an exception leaves.
bool Call_leave(struct Call *call, struct Site *site);

#endif
