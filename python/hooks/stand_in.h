// SPDX-License-Identifier: MIT
// A stand-in is a code object that CPython never runs. A stand-in represents C
// code that Ocular shows like a function: the garbage collector, or a C
// function. Hits for its beginning and its end count the runs of the C code.
// The traced thread calls these functions with the GIL held.
#pragma once

#include "python/hooks/state.h"
#include "tracer/hook/hit.h"

// Compiles what all stand-ins have in common. Returns 0, or -1 with an
// exception.
int StandIn_init(struct State *state);
// Returns a new stand-in without a line, or NULL with an exception. `name` and
// `file` are texts of class str. Runs no Python code.
PyObject *StandIn_new(struct State *state, PyObject *name, PyObject *file);
// Stores the code units of the hits for the beginning and the end in `state`.
// All stand-ins have the same code units. Returns false if `code`, the record
// of a stand-in, has no such units.
bool StandIn_find_units(struct State *state, const struct Code *code);
// Writes a hit that does not come from an event of the code object `code`.
// Returns false if this took longer than usual.
bool StandIn_write(PyObject *code, enum HitKind kind, size_t unit, size_t to);
