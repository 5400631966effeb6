// SPDX-License-Identifier: MIT
// struct TaskList has the oldest tasks of one group. All tasks of a walk are
// offered to the list. asyncio numbers tasks in turn, so the tasks with the
// lowest numbers are the oldest. Only the governor's thread calls these
// functions, which do not need the GIL.
#pragma once

#include "tracer/session/task_lines.h"

#define TASK_LISTED 50 // Largest number of tasks of a list.
// Largest number of lines of an await chain. A longer await chain lacks the
// lines before the innermost one.
#define TASK_CHAIN 64
// Largest number of bytes of a text about a task, with the zero at its end.
#define TASK_TEXT 64

struct ListedTask {
    // asyncio's number of the task; UINT64_MAX if there is none.
    uint64_t number;
    char name[TASK_TEXT];
    const char *state; // A constant text, or NULL if the state is not known.
    // The future that the task waits for, and a task that waits for this task,
    // or "" if not known.
    char waits_for[TASK_TEXT], awaited_by[TASK_TEXT];
    // The await chain, from the task's coroutine to the innermost await, as
    // numbers of lines in a struct TaskLines.
    uint32_t chain[TASK_CHAIN];
    unsigned count;
    uint64_t steps; // UINT64_MAX if unknown.
};

struct TaskList { // A zeroed struct TaskList is empty.
    struct ListedTask *all;
    unsigned count, room;
    unsigned newest; // Index of the task with the highest number.
};

// Returns a cleared entry for the task with this number (0 = none), or NULL if
// the list is full of older tasks or there is no memory.
struct ListedTask *TaskList_add(struct TaskList *list, uint64_t number);
// Adds a line to the task's await chain. If the chain is full, the new line
// replaces its last line. `line` may be 0, and then nothing is added.
void ListedTask_add_line(struct ListedTask *task, uint32_t line);
// Orders the oldest task first.
void TaskList_sort(struct TaskList *list);
void TaskList_release(struct TaskList *list);
