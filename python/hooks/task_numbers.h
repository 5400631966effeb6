// SPDX-License-Identifier: MIT
// A number for each asyncio task that was seen to run: no two tasks have the
// same one, though a later one may lie where an earlier one lay. A weak
// reference tells them apart. Interpreter's lock held; runs no Python code.
#ifndef OCULAR_PYTHON_HOOKS_TASK_NUMBERS_H
#define OCULAR_PYTHON_HOOKS_TASK_NUMBERS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stddef.h>
#include <stdint.h>

struct NumberedTask {
    const PyObject *task; // borrowed, may be gone; NULL: the place is free
    PyObject *reference;  // a weak one to it, owned
    uint32_t number;
};

// Zeroed memory has no task. Numbers go on from session to session.
struct TaskNumbers {
    struct NumberedTask *all; // by address, open addressing
    size_t room;              // a power of two, or 0
    size_t used;
    uint32_t newest; // number
};

// From 1 on, of 28 bits. 0: memory is out, or nothing can refer to it weakly.
uint32_t TaskNumbers_of(struct TaskNumbers *numbers, PyObject *task);
// Forgets all tasks, whose next numbers are new ones.
void TaskNumbers_clear(struct TaskNumbers *numbers);

#endif
