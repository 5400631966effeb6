// SPDX-License-Identifier: MIT
// An event that is counted at once, after all hits before it. Hooks call these
// functions on the traced thread with the GIL held. The counting lock is held
// from Call_begin to Call_end.
#ifndef OCULAR_PYTHON_HOOKS_CALL_H
#define OCULAR_PYTHON_HOOKS_CALL_H

#include "python/hooks/state.h"

// One event and the records that it belongs to.
struct Call {
    struct ThreadTrace *trace;
    struct Code *code;
    const PyThreadState *state;
    size_t unit;
    uint64_t ticks;     // at the hook's start
    struct Armed armed; // code armed before
    uint64_t counted;   // hits counted before
    uint32_t depth;
    bool paid;
};

// Converts an offset in bytes to a code unit. Offsets are small and never
// negative. Another value gives a unit that is out of bounds or meaningless,
// but does no harm. The type is not checked before a hit is written, since that
// would take three more instructions of about seventy. Only a tool that calls a
// hook by hand can pass another object than an int. A few bytes of that object,
// or at worst behind it, are then read (tests/python/test_hooks.py).
static inline size_t Call_unit(PyObject *offset)
{
    return ((PyLongObject *)offset)->long_value.ob_digit[0] / 2;
}

// Notes the time at which the hook began.
void Call_init(struct Call *call);
// Finds the code and the thread's record. Returns false if the event must be
// ignored, because the object is no accepted code or memory is out.
bool Call_look(struct Call *call, PyObject *const *args, size_t nargsf);
// Returns true if the event resumes a generator or a coroutine, false if it
// starts a call.
bool Call_resumes(const struct Call *call);

// Takes the counting lock and switches the record to the stack on which the
// thread runs.
void Call_begin(struct Call *call);
// Counts the event. Returns true if the site is to be disabled.
bool Call_count(struct Call *call, enum HitKind kind, size_t to);
// Charges the time since the hook began as overhead if the fast path is in use,
// since a slow hook's cost is calibrated. Drops the counting lock.
void Call_end(struct Call *call);
// Calls Call_begin, Call_count and Call_end.
bool Call_count_alone(struct Call *call, enum HitKind kind, size_t to);
// Returns in how many of a hook's `taken` ticks other programs must have had
// the CPU. These are the ticks beyond an upper bound for counting `hits` hits
// and for arming the code that was armed since `since` (NULL: no code). The
// returned ticks are neither the program's time nor our cost.
uint64_t Call_beyond(uint64_t taken, uint64_t hits, const struct Armed *since);
// Charges the time since the hook began as overhead, if Call_end has not.
void Call_pay(struct Call *call);

#endif
