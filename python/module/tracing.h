// SPDX-License-Identifier: MIT
// Starting and stopping: the order in which tools, session, governor and code
// are set up and taken down. Interpreter's lock held; stopping releases it.
#ifndef OCULAR_PYTHON_MODULE_TRACING_H
#define OCULAR_PYTHON_MODULE_TRACING_H

#include "python/hooks/state.h"

// The settings that the package hands over, checked by it. Lists of str.
struct Request {
    struct Config config;
    PyObject *exclude;
    PyObject *include;
    const char *command; // as viewers show it
};

// 0, or -1 with an exception; nothing is left behind after an error.
int Tracing_start(struct State *state, const struct Request *request);
// (snapshot, report, trace path or None, error text or None, exception or
// None); a new reference. None if nothing is traced; NULL with an exception on
// trouble. `write`: the timeline goes to its file, and progress, seconds,
// make_page and the last of the five are final_timeline.h's.
PyObject *Tracing_stop(struct State *state, bool write, PyObject *progress,
                       double seconds, PyObject *make_page);
// The same without results: for 20 000 functions they take 0.1 s, in which no
// other thread runs.
void Tracing_end(struct State *state);
PyObject *Tracing_snapshot(struct State *state);                 // dict
PyObject *Tracing_export(struct State *state, const char *path); // bytes
// What is known of each instruction (tracer/session/listing_detail.h): a list,
// or None if the code object is not traced.
PyObject *Tracing_detail(struct State *state, PyObject *code);

#endif
