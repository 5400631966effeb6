// SPDX-License-Identifier: MIT
// Notes the steps of event loops (event_loops.h) by hooks of the discovery
// tool, which stay on. Code that begins steps is asyncio's Handle._run, which
// runs each callback of asyncio's loops in Python, and the outermost coroutine
// of a task under any other loop, such as uvloop's and trio's. Hooks call
// these functions on the loop's thread with the GIL held. No function runs
// Python code or leaves an exception.
#pragma once

#include "python/hooks/state.h"

// Begins a step if `code` begins steps. Returns what the discovery tool's hook
// returns, or NULL if the discovery tool has other work to do at this event.
PyObject *LoopSteps_begin(PyObject *code);
// Finds out whether `code`, which has just been classified, begins steps, and
// then begins one. `done` is true if the discovery tool needs no further event
// of this code. Returns true if the hook's event must stay on.
bool LoopSteps_adopt(PyObject *code, bool done);
// Begins to count the steps of a task's outermost coroutine, unless all loops
// are asyncio's own. Another coroutine may have awaited this code before, so
// that LoopSteps_adopt is not called for it any more. Returns true if it has
// set the code's events, which takes long.
bool LoopSteps_find(struct State *state, PyCodeObject *code);
// Allows the steps of a session, and frees what LoopSteps_adopt has stored.
void LoopSteps_start(struct State *state);
void LoopSteps_stop(struct State *state);
// Allows more steps, at most once a second. If the hooks of steps were switched
// off because there were too many steps, switches them on again after some
// time. The governor calls this function at each full hold of the GIL, at the
// time `now_s` of CLOCK_MONOTONIC. If there is a budget, tracing may take
// `rate` CPU seconds per second.
void LoopSteps_renew(struct State *state, double now_s, double rate);
// Ends the running step if `code` has begun it and an exception leaves `code`.
void LoopSteps_unwind(PyObject *code);
// The hook at returns and yields of code that begins steps.
PyObject *LoopSteps_end(PyObject *self, PyObject *const *args, size_t nargsf,
                        PyObject *names);
