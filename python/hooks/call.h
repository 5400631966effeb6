// SPDX-License-Identifier: MIT
// Counts one event at once, after all hits before it. Hooks call these
// functions on the traced thread with the GIL held. The counting lock is held
// from Call_begin to Call_end.
#pragma once

#include "python/hooks/state.h"

// struct Call is one event, with its code and the record of its thread.
struct Call {
    struct ThreadTrace *trace;
    struct Code *code;
    const PyThreadState *state;
    size_t unit;
    uint64_t ticks;     // Time at the start of the hook.
    struct Armed armed; // Amount of code that was armed before the hook.
    uint64_t counted;   // Hits that were counted before the hook.
    uint32_t depth;
    bool paid;
};

// Converts an offset in bytes to a code unit. An event's offset is small and
// never negative. Any other offset gives a code unit that is meaningless or out
// of bounds, and such a unit does no harm. The offset's type is not checked
// before a hit is written, because a check would take three more instructions,
// and the hook has about seventy. Only a tool that calls a hook by hand can
// pass an object that is not an int. In this case Call_unit reads a few bytes
// of the object, or at worst a few bytes behind the object
// (tests/python/test_hooks.py).
static inline size_t Call_unit(PyObject *offset)
{
    return ((PyLongObject *)offset)->long_value.ob_digit[0] / 2;
}

// Returns the line that a LINE event reports, under the same rules.
static inline size_t Call_line(PyObject *line)
{
    return ((PyLongObject *)line)->long_value.ob_digit[0];
}

// Stores the time at which the hook began.
void Call_init(struct Call *call);
// Finds the code and the thread's record. Returns false if the event must be
// ignored, because the object is no accepted code or memory is out.
bool Call_look(struct Call *call, PyObject *const *args, size_t nargsf);
// Returns true if the event resumes a generator or a coroutine, false if it
// starts a call.
bool Call_resumes(const struct Call *call);

// Takes the counting lock and switches the thread's record to the stack on
// which the thread runs.
void Call_begin(struct Call *call);
// Counts the event. Returns true if the hook is to be disabled at this site.
bool Call_count(struct Call *call, enum HitKind kind, size_t to);
// If hooks usually use the fast path, charges the time since the hook began as
// overhead. If all hooks use the slow path, its cost was calibrated, and
// Call_end charges nothing. Drops the counting lock.
void Call_end(struct Call *call);
// Calls Call_begin, Call_count and Call_end.
bool Call_count_alone(struct Call *call, enum HitKind kind, size_t to);
// Returns how many of the `taken` ticks of a hook must have passed while other
// programs had the CPU. The returned ticks are those beyond an upper bound for
// counting `hits` hits and for arming the code that was armed since `since`
// (NULL = no code). The time of these ticks is neither the program's time nor
// Ocular's cost.
uint64_t Call_beyond(uint64_t taken, uint64_t hits, const struct Armed *since);
// Charges the time since the hook began as overhead, unless Call_end has done
// so.
void Call_pay(struct Call *call);
