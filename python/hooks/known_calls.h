// SPDX-License-Identifier: MIT
// struct KnownCalls tells for how long suspended calls of coroutine functions
// are known. Walks over asyncio's tasks find the calls. A weak reference to a
// call's coroutine shows that it still is the same call. All functions need the
// GIL, and run no Python code.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

// The table has CALL_SETS sets of CALL_WAYS entries. CALL_SETS is a power of 2.
#define CALL_SETS 1024u
#define CALL_WAYS 8u

struct KnownCall {
    const PyObject *coroutine; // Its address, or NULL if the entry is free.
    PyObject *weak;            // A weak reference to the coroutine, or NULL.
    double since_s;            // CLOCK_MONOTONIC at which `weak` was made.
    uint16_t walk;             // The walk that has last found the call.
};

struct KnownCalls { // All fields are 0 at first.
    uint16_t walk;  // Number of the newest walk. The caller adds 1 for each.
    struct KnownCall entries[CALL_SETS][CALL_WAYS];
};

// Returns for how many seconds the call of a coroutine is known, which the
// present walk has found at the time `now_s` of CLOCK_MONOTONIC.
double KnownCalls_age(struct KnownCalls *calls, PyObject *coroutine,
                      double now_s);
// Frees all references.
void KnownCalls_clear(struct KnownCalls *calls);
