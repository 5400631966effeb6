// SPDX-License-Identifier: MIT
// Finds out which asyncio task takes a step. The event loop calls Handle._run()
// for each step, and the handle's callback belongs to the task. If there is a
// timeline, the entry hook of Handle._run reads the callback, on the traced
// thread with the GIL held.
#pragma once

#include "python/hooks/call.h"

// Writes the task's number and name into the thread's ring if `call` is a call
// of Handle._run that begins a step of a task. `call` must have been counted
// before. The function runs no Python code and leaves no exception set.
void Tasks_note(const struct Call *call);
// Returns true if an asyncio loop of any kind runs in this thread.
bool Tasks_loop_runs(void);
// Returns the task that makes its step by this handle as a new reference. If
// `handle` is NULL, returns the thread's current task. Returns NULL if there is
// no task. Leaves no exception set.
PyObject *Tasks_of(PyObject *handle);
// Stores the name of this task. Stores "" if there is no task or its name is
// unknown. Runs no Python code and leaves no exception set.
void Tasks_name(PyObject *handle, char *out, size_t size);
