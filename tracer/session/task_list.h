// SPDX-License-Identifier: MIT
// struct TaskList has the oldest tasks of one group. All tasks of a walk are
// offered to the list. asyncio numbers tasks in turn, so the tasks with the
// lowest numbers are the oldest. Only the governor's thread calls the functions
// of task_list.h, which do not need the GIL.
#pragma once

#include "tracer/session/task_lines.h"

// Largest number of tasks of a list, and of a list that a viewer shows.
#define TASK_LISTED 50
#define TASK_SHOWN 500
// Largest number of lines of an await chain (the coroutines that a task
// awaits). A longer await chain is stored without the lines before the
// innermost one.
#define TASK_CHAIN 64
// Largest number of bytes of a text about a task, with the zero at its end.
#define TASK_TEXT 64

struct ListedTask {
    // asyncio's number of the task, or UINT64_MAX if there is none.
    uint64_t number;
    char name[TASK_TEXT];
    const char *state; // A constant text, or NULL if the state is not known.
    // The future that the task waits for, and a task that waits for this task,
    // or "" if not known.
    char waits_for[TASK_TEXT], awaited_by[TASK_TEXT];
    // The await chain, from the task's coroutine to the innermost await. The
    // numbers are those of lines in a struct TaskLines.
    uint32_t chain[TASK_CHAIN];
    unsigned count;
    uint64_t steps;   // UINT64_MAX if unknown.
    double cpu_share; // CPU time as a share of a core; NaN if unknown.
};

struct TaskList { // All fields are 0 at first.
    struct ListedTask *all;
    unsigned count, room;
    unsigned newest; // Index of the task with the highest number.
    bool shown;      // True if a viewer shows the list.
};

// Removes all tasks. Notes whether a viewer shows the list, and then allocates
// the memory for all of its tasks.
void TaskList_prepare(struct TaskList *list, bool shown);
// Returns an empty entry for the task with this number (0 means none). Returns
// NULL if the list is full of older tasks or there is no memory.
struct ListedTask *TaskList_add(struct TaskList *list, uint64_t number);
// Adds a line to the task's await chain. In a full chain, the new line replaces
// the last line. Nothing is added if `line` is 0.
void ListedTask_add_line(struct ListedTask *task, uint32_t line);
// Sorts the list by age, the oldest task first.
void TaskList_sort(struct TaskList *list);
void TaskList_release(struct TaskList *list);
