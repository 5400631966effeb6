// SPDX-License-Identifier: MIT
// The callbacks given to sys.monitoring: objects of a type of our own, so that
// a call is one indirect jump with the arguments on the C stack.
#ifndef OCULAR_PYTHON_HOOKS_HOOK_H
#define OCULAR_PYTHON_HOOKS_HOOK_H

#include "python/hooks/state.h"

// Makes the type, and one object an event. 0, or -1 with an exception.
int Hooks_init(struct State *state);
// Chooses the callbacks' course: with or without a timeline, and by the clock.
// Before the hooks are registered.
void Hooks_select(struct State *state, bool timeline);
// From now on each hook that is still in takes itself out when it is met, and
// records nothing: in a forked child, until the session is let go.
void Hooks_silence(struct State *state);
// The calling thread's lane, made if it has none; NULL when memory is out.
struct Lane *Hooks_lane(struct State *state, uint64_t ticks);
struct Lane *Hooks_own_lane(void); // NULL: it has none
// Where hooks are being timed on the calling thread, that is off: it has its
// own lane again.
void Hooks_take_back(void);
// The calling thread's goes, as when the thread ends.
void Hooks_end_lane(void);

// CPython keeps the small integers; of any other offset it makes an object, and
// frees it after the event. These are the units whose offsets are small.
#if PY_VERSION_HEX >= 0x030F0000
#define HOOK_NEAR_UNITS (1024 / 2 + 1)
#else
#define HOOK_NEAR_UNITS (256 / 2 + 1)
#endif

#endif
