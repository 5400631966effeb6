// SPDX-License-Identifier: MIT
// Which asyncio task takes a step: the event loop calls Handle._run() for each,
// and the handle has what it is to call, which belongs to the task. The entry
// hook of that one function asks, if there is a timeline. On the traced
// thread, interpreter's lock held.
#ifndef OCULAR_PYTHON_HOOKS_TASKS_H
#define OCULAR_PYTHON_HOOKS_TASKS_H

#include "python/hooks/call.h"

// 0, or -1 with an exception.
int Tasks_init(struct State *state);
// `call` has been counted. If it is one of that function, and a step of a task
// begins with it, the task's number and name go into the thread's ring. No
// Python code runs, and no exception is left.
void Tasks_note(const struct Call *call);

#endif
