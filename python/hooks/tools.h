// SPDX-License-Identifier: MIT
// Manages Ocular's two tool ids of sys.monitoring. The discovery tool sees the
// first PY_START or PY_RESUME of every code object and classifies the code
// object. The tracer has local events on accepted code only, so that each code
// object can be disarmed and armed separately. Hooks, the governor, and the
// threads that start and stop a session call these functions with the GIL held.
#pragma once

#include "python/hooks/state.h"

// Looks up the functions of sys.monitoring that Ocular needs. Returns 0, or -1
// with an exception.
int Tools_init(struct State *state);
// Chooses the mode, and thereby the tracer's events on accepted code. Must be
// called before a code object is adopted. Returns 0, or -1 with an exception.
int Tools_choose(struct State *state, const struct Config *config);
// Takes two of the tool ids 3, 4 and 5 and registers all hooks, but sets no
// events. Returns 0, or -1 with a RuntimeError that names the tools that hold
// these ids.
int Tools_open(struct State *state);
// Unregisters the hooks of events that the user has not chosen. Only the
// calibration needs these hooks. Returns 0, or -1 with an exception: an audit
// hook of the program may raise, also by a signal handler that runs in it.
int Tools_drop_unused(struct State *state);
// Sets the global events of the discovery tool and of the tracer. Returns 0, or
// -1 with an exception.
int Tools_arm(struct State *state);
// Counts a PY_UNWIND event. Switches the event off if there are too many
// exceptions.
void Tools_note_unwind(struct State *state);
// Allows more PY_UNWIND events, at most once a second. If the event was
// switched off a minute ago, switches the event on again. The governor calls
// this function each one or two seconds, at the time `now_s` of
// CLOCK_MONOTONIC.
void Tools_renew_unwinds(struct State *state, double now_s);
// Switches the event RAISE on or off. Returns 0, or -1 without an exception.
int Tools_set_raise(struct State *state, bool on);
// If the event RAISE is on, switches it off and on. CPython then prepares all
// code that runs for the event. From 3.15 on, CPython crashes if an exception
// passes through code that is not prepared. Code whose frames were hidden
// (FrameStack_hide) when the event was switched on is not prepared.
void Tools_renew_raise(struct State *state);
// Checks whether Ocular still holds both tool ids, because any code may free an
// id or take a freed id. Sets `ids_lost` if an id is lost. Later calls do not
// touch a lost id.
void Tools_watch(struct State *state);
// Clears the global events of both tools. Continues after errors.
void Tools_disarm(struct State *state);
// Unregisters all hooks and frees the tool ids. Continues after errors.
void Tools_close(struct State *state);
// Restores the superinstructions that CPython 3.12 removes when it instruments
// a code object.
void Tools_restore(struct State *state, PyCodeObject *code);
// Sets the tracer's events on one code object. `events` is a Python int of
// event bits. Returns 0, or -1 with an exception. Also fails if another tool
// has taken the tracer's id.
int Tools_set_local(struct State *state, PyCodeObject *code, PyObject *events);
// Sets or clears the discovery tool's events at the returns and yields of one
// code object. Returns 0, or -1 without an exception.
int Tools_set_steps(struct State *state, PyCodeObject *code, bool on);
// Sets the discovery tool's events again on code that begins steps, also where
// a hook has disabled them. Returns 0, or -1 without an exception.
int Tools_renew_steps(struct State *state);
