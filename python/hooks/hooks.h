// SPDX-License-Identifier: MIT
// Makes the callbacks for sys.monitoring and chooses the C functions that they
// call. Callbacks are objects of Ocular's own type, so that a call of a
// callback is one indirect jump with the arguments on the C stack. The thread
// that starts a session and a forked child call these functions, with the GIL
// held.
#pragma once

#include "python/hooks/state.h"

// Makes the type of the callbacks, and one callback for each event. Returns 0,
// or -1 with an exception.
int Hooks_init(struct State *state);
// Chooses the fast path, or the slow one if the clock is unreliable or the
// threshold is only a few hits. Must be called before the hooks are registered.
void Hooks_select(struct State *state, uint64_t threshold);
// Makes each hook record nothing and call `on_event`. Each hook then disables
// its event at its site, except the discovery hook. If the discovery hook
// disabled its event, the next session would not see the code. A forked child
// uses silenced hooks until the child drops the session.
void Hooks_silence(struct State *state, void (*on_event)(void));
// Removes all hooks from the interpreter at the end of a session. A second call
// does nothing. Leaves no exception set.
void Hooks_remove(struct State *state);
// Then frees what the hooks have stored about code, tasks and C functions. No
// other thread may use the session any more. Leaves no exception set.
void Hooks_forget(struct State *state);
