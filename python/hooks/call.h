// SPDX-License-Identifier: MIT
// One event that cannot only be written down: whose it is, looked up and
// checked, and counted at once, after all hits that came before. Hooks on the
// traced thread, interpreter's lock held; from Call_begin to Call_end the
// counting lock, too.
#ifndef OCULAR_PYTHON_HOOKS_CALL_H
#define OCULAR_PYTHON_HOOKS_CALL_H

#include "python/hooks/state.h"

// One event, as its callback has found it.
struct Call {
    struct ThreadTrace *trace;
    struct Code *code;
    const PyThreadState *state;
    size_t unit;
    uint64_t ticks;     // when the hook began
    struct Armed armed; // until then
    uint64_t counted;   // hits, until then
    uint32_t depth;
    bool paid;
};

// An offset in bytes as a code unit. Offsets are small and never negative; what
// else a stranger may pass ends in a unit that is out of bounds, or of no use.
// That it is an int is not asked before it is written down (three more
// instructions of about seventy): only a tool that takes a hook out of
// sys.monitoring and calls it by hand can pass another object, of which a few
// bytes are read then, at worst those behind it (tests/python/test_hooks.py).
static inline size_t Call_unit(PyObject *offset)
{
    return ((PyLongObject *)offset)->long_value.ob_digit[0] / 2;
}

// The hook begins.
void Call_init(struct Call *call);
// false: nothing to do here (not accepted, not a code object, no memory).
bool Call_look(struct Call *call, PyObject *const *args, size_t nargsf);
// Its event says that a call goes on, not that one begins.
bool Call_resumes(const struct Call *call);

// Takes the counting lock; the record's stack is the one that runs.
void Call_begin(struct Call *call);
// true: DISABLE the site.
bool Call_count(struct Call *call, enum HitKind kind, size_t to);
// The time since the hook began is our cost, and neither the caller's nor the
// callee's.
void Call_end(struct Call *call);
// The three together.
bool Call_count_alone(struct Call *call, enum HitKind kind, size_t to);
// The part of a hook's `taken` ticks in which other threads must have had the
// CPU, since no hook takes so long with `hits` hits counted and that code armed
// (NULL: none). That part is neither the program's time nor our cost.
uint64_t Call_beyond(uint64_t taken, uint64_t hits, const struct Armed *since);
// As Call_end says, if nothing was counted.
void Call_pay(struct Call *call);

#endif
