// SPDX-License-Identifier: MIT
// The callbacks given to sys.monitoring: objects of a type of our own, so that
// a call is one indirect jump with the arguments on the C stack. Makes them and
// chooses where they jump to. Interpreter's lock held, by the thread that
// starts a session, and by a forked child.
#ifndef OCULAR_PYTHON_HOOKS_HOOKS_H
#define OCULAR_PYTHON_HOOKS_HOOKS_H

#include "python/hooks/state.h"

// Makes the type, and one object an event. 0, or -1 with an exception.
int Hooks_init(struct State *state);
// Chooses the callbacks: whether hits are written down or counted at once, as
// with an uncertain clock or a threshold of few hits. Before the hooks are
// registered.
void Hooks_select(struct State *state, uint64_t threshold);
// From now on each hook that is still in takes itself out at its next event,
// but for the discovery of new code: the next session would not learn of code
// whose event is disabled. They record nothing and call `on_event`. In a forked
// child, until the session is let go.
void Hooks_silence(struct State *state, void (*on_event)(void));

#endif
