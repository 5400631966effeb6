// SPDX-License-Identifier: MIT
// Our two tool ids of sys.monitoring. The discovery tool sees every code
// object's first PY_START or PY_RESUME and decides; the tracer has local events
// on accepted code only, so that all of them can be disabled and armed again
// one code object at a time. Interpreter's lock held.
#ifndef OCULAR_PYTHON_HOOKS_TOOLS_H
#define OCULAR_PYTHON_HOOKS_TOOLS_H

#include "python/hooks/state.h"

// Looks up the functions of sys.monitoring that we need. 0, or -1 with an
// exception.
int Tools_init(struct State *state);
// Chooses the tracer's events on accepted code, and so the mode. Before a code
// object is adopted. 0, or -1 with an exception.
int Tools_choose(struct State *state, const struct Config *config);
// Takes two of the ids 3, 4 and 5 and registers the tracer's hooks. No event
// is set yet. 0, or -1 with a RuntimeError that names who holds them.
int Tools_open(struct State *state);
// Sets the discovery tool's events, and those of the tracer's that can only be
// global.
int Tools_arm(struct State *state);
// Checks whether both ids are still ours: any program may free them, and take
// them. An id that is not ours any more is not touched again, and `ids_lost` is
// set.
void Tools_watch(struct State *state);
// Clears the global events of both; goes on after errors.
void Tools_disarm(struct State *state);
// Takes all hooks back and frees the ids; goes on after errors.
void Tools_close(struct State *state);
// Puts back the superinstructions that instrumenting a code object has cost it.
void Tools_restore(struct State *state, PyCodeObject *code);
// Sets the tracer's events on one code object (a Python int of event bits). 0,
// or -1 with an exception, also if another tool has the id by now: each call
// asks who holds it.
int Tools_set_local(struct State *state, PyCodeObject *code, PyObject *events);

#endif
