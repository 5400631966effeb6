// SPDX-License-Identifier: MIT
// Watches the garbage collector by a C function in gc.callbacks. CPython calls
// this function on the collecting thread before and after each collection. The
// function counts the pause, and writes a hit at its beginning and at its end,
// as if the collector were a function. A code object that never runs stands for
// this function. Other entries of gc.callbacks stay as they are. Callers hold
// the GIL. No function raises an exception unless its comment says so.
#pragma once

#include "python/hooks/state.h"

// Makes the Python objects that the watch needs. Returns 0, or -1 with an
// exception.
int GarbageWatch_init(struct State *state);
// Adds Ocular's callback to gc.callbacks. If memory is out, collections are not
// counted.
void GarbageWatch_start(struct State *state);
// Makes sure that Ocular's callback is in gc.callbacks once, also if the
// program has changed the list.
void GarbageWatch_check(struct State *state);
// Removes Ocular's callback from gc.callbacks. A second call does nothing.
void GarbageWatch_stop(struct State *state);
