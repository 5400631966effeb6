// SPDX-License-Identifier: MIT
// Gives a number to each asyncio task that runs. A new task may have the
// address of an earlier task that was freed. A weak reference distinguishes the
// new task from the freed task. Callers hold the GIL. The functions run no
// Python code.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stddef.h>
#include <stdint.h>

struct NumberedTask {
    // Borrowed task, possibly freed, or NULL in a free slot.
    const PyObject *task;
    PyObject *reference; // weak reference to `task`, owned
    uint32_t number;
};

// A hash table of tasks. Zeroed memory is an empty table. Numbers are not
// reused in later sessions.
struct TaskNumbers {
    struct NumberedTask *all; // Open addressing, hashed by the task's address.
    size_t room;              // Number of slots, a power of two or 0.
    size_t used;
    uint32_t newest; // the last number that was given to a task
};

// Returns the task's number, 1 to 2^28 - 1. Returns 0 if memory is out or the
// task does not support weak references.
uint32_t TaskNumbers_of(struct TaskNumbers *numbers, PyObject *task);
// Forgets all tasks. A task that runs again gets a new number.
void TaskNumbers_clear(struct TaskNumbers *numbers);
