// SPDX-License-Identifier: MIT
// While somebody asks for asyncio's tasks, notes the line at which each new
// task was created, and counts the steps of tasks. CPython stores neither. The
// hooks of the discovery tool at returns of asyncio's functions that create
// tasks, and at steps of event loops (loop_steps.h), call these functions. No
// reference to a task is kept: a task is recognised by its address, its
// coroutine's address and its number. All functions need the GIL, and run no
// Python code.
#pragma once

#include "python/hooks/await_chain.h"
#include "python/hooks/state.h"
#include "tracer/session/task_lines.h"

#define TASK_PLACES 256u // Largest number of places.

// A task that was created, made a step or was found by a walk. If there are too
// many tasks, a new task replaces one that no walk has found, or that was not
// seen for long.
struct KnownTask {
    uint64_t check; // Identifies the task; 0 if the entry is free.
    uint32_t steps; // Number of the task's steps since this entry was made.
    // Id of the coroutine function of the task's group, or 0. Steps set it, and
    // a walk if the outermost coroutine is a library's.
    uint32_t group;
    uint16_t place; // Number of a line in TaskWatch.places; 0 if unknown.
    uint16_t walk;  // The walk in which the task was last seen.
    uint8_t walks;  // Number of walks that have found the task, at most 2.
};

// Finds the task's entry, or makes one. `read` has the values that were read
// from `task`. Returns NULL if nobody asks for tasks.
struct KnownTask *TaskWatch_know(struct State *state, const PyObject *task,
                                 const struct AwaitTask *read);
// Returns the entry of a task that a walk has found, or NULL.
struct KnownTask *TaskWatch_find(struct State *state, const PyObject *task,
                                 const struct AwaitTask *read);
// Returns the result of KnownCalls_age, or 0 if no viewer asks for tasks.
double TaskWatch_age(struct State *state, PyObject *coroutine, double now_s);
// Returns the line at which a task was created, or NULL. The line stays valid
// while the caller holds the GIL.
const struct TaskLine *TaskWatch_place(const struct State *state,
                                       const struct KnownTask *known);
// Returns the number of steps that the tasks of a group, or the tasks that were
// created at a place, have made. Returns UINT64_MAX if steps are not counted.
uint64_t TaskWatch_steps(const struct State *state,
                         const struct TaskLine *group);
// Returns true if the table may have lost tasks with a place since the last
// call.
bool TaskWatch_missed(struct State *state);
// Returns the code by which a task is grouped. `codes` are the functions of its
// await chain, from the outermost one.
PyCodeObject *TaskWatch_group(const struct State *state,
                              PyCodeObject *const *codes, unsigned count);
// Notes that a function that creates tasks returns `result`. `code` is the
// function's code. `eager` is true if the first step of an eager task has not
// been counted. Returns false if the hook at returns is not needed any more.
bool TaskWatch_returned(struct State *state, PyCodeObject *code,
                        PyObject *result, bool eager);
// Counts a step of the task that this handle runs. If `handle` is NULL, counts
// a step of the current task if the newest frame is that of its outermost
// coroutine. `unwinds` is true if an exception leaves this frame.
void TaskWatch_step(struct State *state, PyObject *handle, bool unwinds);
// Begins the watch if viewers ask for tasks, and otherwise ends it. The
// governor calls this function at each of its holds of the GIL. `walks` is true
// at the beginning of a walk.
void TaskWatch_renew(struct State *state, bool walks);
// Sets or clears the events at returns of the functions that create tasks.
void TaskWatch_set(struct State *state, bool on);
void TaskWatch_stop(struct State *state);
