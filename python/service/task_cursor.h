// SPDX-License-Identifier: MIT
// struct TaskCursor is a position among all tasks of asyncio. CPython 3.12 and
// 3.13 keep the tasks in two sets. From 3.14 on, CPython keeps the tasks of
// each thread in a list, and only tasks of classes written in Python in the
// sets. The program changes the sets and lists between two slices of a walk.
// The cursor keeps no task alive, and no Python code runs. Callers hold the
// GIL, and all references to tasks are borrowed.
#pragma once

#include "python/hooks/state.h"

// Largest number of tasks that TaskCursor_next returns.
#define TASK_BATCH 16

// A position in one of the two sets of tasks.
struct TaskSetCursor {
    bool ended;                // All tasks have been returned.
    unsigned which;            // The set that is read.
    PySetObject *set;          // This set within a slice, otherwise NULL.
    Py_ssize_t index;          // Index of the next entry of the set's table.
    Py_ssize_t mask;           // The table's size - 1 in the last slice, or -1.
    Py_ssize_t at[TASK_BATCH]; // Index of each task of the last batch.
};

#if PY_VERSION_HEX >= 0x030E0000

#define TASK_ANCHORS 20

// A node of CPython's lists (struct llist_node).
struct TaskNode {
    struct TaskNode *next, *prev; // NULL if the task has ended.
};

// Offsets in bytes, from the table that asyncio's C module has for debuggers.
struct TaskLayout {
    size_t name, node;  // In a task. `node` is 0 if the layout is unknown.
    size_t awaited_by;  // In a task and in every other future.
    size_t interpreter; // The list in PyInterpreterState.
    size_t thread;      // The list in PyThreadState.
};

// A task that the cursor has passed.
struct TaskAnchor {
    PyObject *task; // Valid only within a slice.
    PyObject *ref;  // A weak reference, or NULL.
    uint64_t place; // Number of tasks of the list up to this task.
};

struct TaskCursor {
    bool ended;       // All tasks have been returned.
    bool lists_ended; // All lists have been read, and now the sets.
    struct TaskSetCursor sets;
    struct TaskLayout layout;
    // Id of the thread whose list is read. Each list has a smaller id than the
    // list before it. The last list is that of ended threads' tasks, and has
    // the id 0.
    uint64_t id;
    // These members are valid only within a slice.
    PyThreadState *thread;
    struct TaskNode *of_ended; // The list of ended threads' tasks.
    struct TaskNode *head, *next;
    PyObject *batch[TASK_BATCH];
    unsigned count;         // Number of tasks in `batch`.
    uint64_t number_before; // Value of `number` before this batch.

    // The task that was the last of the list when the cursor began to read the
    // list. Only the address is used, because the task may have been freed.
    // Later tasks are not read.
    const void *last;
    // asyncio's number of this task; 0 if unknown. Later tasks have higher
    // numbers.
    uint64_t last_number;
    // `passed` is the number of tasks of the list up to the cursor, and
    // `farthest` is the largest value that `passed` has had. `number` is the
    // highest of asyncio's numbers of these tasks, or 0.
    uint64_t passed, farthest, number;
    unsigned went_back; // Number of times that the cursor has gone back.
    unsigned batches;   // Number of batches of this list.
    struct TaskAnchor anchors[TASK_ANCHORS]; // The first is the newest.
};

#else

struct TaskCursor {
    bool ended; // All tasks have been returned.
    struct TaskSetCursor sets;
};

#endif

// Goes to the first task.
void TaskCursor_begin(struct TaskCursor *cursor);
// Begins a slice. Returns 0, or -ESTALE if so many tasks have moved or ended
// that the cursor has lost its place and will pass over some tasks, or -ENOTSUP
// if the tasks cannot be found.
int TaskCursor_open(struct TaskCursor *cursor, const struct State *state);
// Returns the number of the next tasks, which may be 0. A task may be NULL.
unsigned TaskCursor_next(struct TaskCursor *cursor, const struct State *state,
                         PyObject *tasks[TASK_BATCH]);
// Goes back to a task of the last batch.
void TaskCursor_return(struct TaskCursor *cursor, unsigned index);
#if PY_VERSION_HEX >= 0x030E0000
// Returns the task or future that waits for an instance of asyncio's C class
// Future or Task, or a set of them, as a borrowed reference, or NULL.
PyObject *TaskCursor_awaited_by(const struct TaskCursor *cursor,
                                PyObject *future);
#endif
// Ends a slice whose TaskCursor_open has not returned -ENOTSUP.
void TaskCursor_close(struct TaskCursor *cursor);
// Drops the references to tasks. The next walk has to begin at the first task.
void TaskCursor_drop(struct TaskCursor *cursor);
// Returns true if there is a task that has not ended.
bool TaskCursor_finds(const struct State *state);
