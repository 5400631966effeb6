// SPDX-License-Identifier: MIT
// Reads what a task of asyncio waits for, and who waits for the task. CPython
// 3.14 and newer store the tasks that wait for a task. In 3.12 and 3.13 the
// task's callbacks show the waiting task, if it awaits the task itself, or by
// gather() or a TaskGroup. No Python code of the program runs. Callers hold the
// GIL.
#pragma once

#include "python/hooks/await_chain.h"
#include "python/service/task_cursor.h"
#include "tracer/session/task_list.h"

// Writes the task's name. `text` has TASK_TEXT bytes.
void WaitingTask_name(char *text, const struct AwaitTask *read);
// Fills the state, waits_for and awaited_by. `coroutine` is the state of the
// task's coroutine.
void WaitingTask_read(struct ListedTask *listed, PyObject *task,
                      enum AwaitState coroutine,
                      const struct TaskCursor *cursor);
