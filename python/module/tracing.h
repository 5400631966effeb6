// SPDX-License-Identifier: MIT
// Starts and stops traces. A start sets up tools, session, governor and code in
// this order, and a stop takes them down. Callers hold the GIL, and stopping
// releases the GIL.
#pragma once

#include "python/hooks/state.h"

// The settings of a trace, which the package has checked.
struct Request {
    struct Config config;
    PyObject *exclude;
    PyObject *include;
    const char *command; // the program and its arguments, for viewers
};

// Starts a trace. Returns 0, or -1 with an exception after undoing every step.
int Tracing_start(struct State *state, const struct Request *request);
// Stops the trace. Returns a new tuple (snapshot, report, path or None, error
// message or None, exception or None), None if nothing is traced, or NULL with
// an exception. If `write` is true, writes the timeline to its file.
// final_timeline.h describes `progress`, `seconds`, `make_page` and the tuple's
// exception.
PyObject *Tracing_stop(struct State *state, bool write, PyObject *progress,
                       double seconds, PyObject *make_page);
// Stops the trace without a snapshot, a report or a timeline. For 20 000
// functions a snapshot and a report take 0.1 s, and no other thread runs during
// this time.
void Tracing_end(struct State *state);
// Returns the newest snapshot as a new dict, or NULL with an exception.
PyObject *Tracing_snapshot(struct State *state);
// Writes the timeline or the stacks to a file. Returns the size of the file in
// bytes, or NULL with an exception.
PyObject *Tracing_export(struct State *state, const char *path);
// Returns a list of what is known of each instruction
// (tracer/session/listing_detail.h), or None if the code object is not traced.
PyObject *Tracing_detail(struct State *state, PyObject *code);
