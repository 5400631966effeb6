// SPDX-License-Identifier: MIT
// Reads a task of asyncio and the chain of coroutines that await each other,
// from the task's coroutine to the innermost one. The functions call only C
// code of CPython, so no Python code of the program runs. Callers hold the GIL.
// All references that a function returns are borrowed, and valid until the
// caller releases the GIL.
#ifndef OCULAR_PYTHON_SERVICE_AWAIT_CHAIN_H
#define OCULAR_PYTHON_SERVICE_AWAIT_CHAIN_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

// The members are NULL if the task is no instance of asyncio's C class Task or
// of a subclass.
struct AwaitTask {
    PyObject *coroutine;
    PyObject *name; // a str, or an int if nobody has asked for the name yet
};

// Reads the task's memory ahead. NULL is fine.
void AwaitTask_prefetch(const PyObject *task);
// NULL is fine.
void AwaitTask_read(struct AwaitTask *read, PyObject *task);
// Returns true if the task has ended. `done` is the text "done".
bool AwaitTask_is_done(PyObject *task, PyObject *done);
// Returns true if asyncio itself has numbered the task.
bool AwaitTask_is_numbered(const struct AwaitTask *read);
// Returns the task's number, or 0 if the program has given it another name. The
// program itself may have given the task a name like asyncio's if
// AwaitTask_is_numbered() is false.
uint64_t AwaitTask_number(const struct AwaitTask *read);

enum AwaitState { AWAIT_CREATED, AWAIT_SUSPENDED, AWAIT_RUNNING, AWAIT_ENDED };

// One coroutine, generator or asynchronous generator of a chain.
struct AwaitFrame {
    PyObject *object; // NULL: not an object of CPython itself
    enum AwaitState state;
    PyCodeObject *code; // NULL if the coroutine has ended
    int instruction;    // offset in bytes
};

// Reads `object`, the beginning of a chain. NULL is fine.
struct AwaitFrame AwaitFrame_of(PyObject *object);
// Returns the frame that `frame` awaits. Its object is NULL at the end of the
// chain.
struct AwaitFrame AwaitFrame_inner(const struct AwaitFrame *frame);
// Reads the memory of what the frame awaits ahead.
void AwaitFrame_prefetch(const struct AwaitFrame *frame);
// Returns the line at which the frame is, or 0.
uint32_t AwaitFrame_line(const struct AwaitFrame *frame);

#endif
