// SPDX-License-Identifier: MIT
// Reads a task of asyncio and the chain of coroutines that await each other,
// from the task's coroutine to the innermost one. The functions call only C
// code of CPython, so no Python code of the program runs. Callers hold the GIL.
// All references that a function returns are borrowed, and valid until the
// caller releases the GIL.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ipc/wait_kind.h"

#include <stdbool.h>
#include <stdint.h>

// The values that were read from a task. The references are NULL if the task
// cannot be read.
struct AwaitTask {
    PyObject *coroutine;
    PyObject *name; // A str, or an int until the name is used.
    bool in_python; // True if the class is not asyncio's C class or a subclass.
};

// Returns asyncio's C class Task or Future if `object` is an instance of the
// class or of a subclass, otherwise NULL.
PyTypeObject *Await_class(PyObject *object);
// Returns true if `object` is an instance of such a class and has ended.
bool Await_is_done(PyObject *object);
// Reads an attribute of `object` by the C function of the getter that `type`
// has. Returns NULL if `type` has no such getter. The caller knows that the
// attribute has another reference.
PyObject *Await_member(PyObject *object, const PyTypeObject *type,
                       const char *name);
// Prefetches the task's memory. `task` may be NULL.
void AwaitTask_prefetch(const PyObject *task);
// Reads the coroutine and name of an instance of asyncio's C class Task or of a
// subclass. A task of any other class is read if its coroutine has one of
// CPython's own types. `task` may be NULL.
void AwaitTask_read(struct AwaitTask *read, PyObject *task);
// Returns true if asyncio itself has given the task its number.
bool AwaitTask_is_numbered(const struct AwaitTask *read);
// Returns the number in the task's name, or 0 if the program has given the task
// another name. Also returns 0 if the class is written in Python, because
// asyncio numbers such tasks separately. If AwaitTask_is_numbered() is false,
// the program itself may have given the task a name like asyncio's.
uint64_t AwaitTask_number(const struct AwaitTask *read);

enum AwaitState { AWAIT_CREATED, AWAIT_SUSPENDED, AWAIT_RUNNING, AWAIT_ENDED };

// One coroutine, generator or asynchronous generator of a chain.
struct AwaitFrame {
    PyObject *object; // NULL if the object's type is not one of CPython's own
    enum AwaitState state;
    PyCodeObject *code; // NULL if the coroutine has ended.
    int instruction;    // Offset in bytes.
};

// Reads `object`, the beginning of a chain of awaits. `object` may be NULL.
struct AwaitFrame AwaitFrame_of(PyObject *object);
// Returns the frame that `frame` awaits. The result's `object` is NULL at the
// end of the chain.
struct AwaitFrame AwaitFrame_inner(const struct AwaitFrame *frame);
// Does the same for a coroutine whose hook at a yield or a return runs, too.
struct AwaitFrame AwaitFrame_yielded(const struct AwaitFrame *frame);
// Returns the frame's function as a borrowed reference, also if the coroutine
// has ended, or NULL.
PyCodeObject *AwaitFrame_code(const struct AwaitFrame *frame);
// Returns the address of CPython's frame of a coroutine, or 0. `object` may
// be NULL.
uintptr_t AwaitFrame_address(PyObject *object);
// Returns what the innermost frame of a chain awaits, as far as the awaited
// object says so.
enum AwaitKind AwaitFrame_waits_for(const struct AwaitFrame *frame);
// Prefetches the memory of the object that the frame awaits.
void AwaitFrame_prefetch(const struct AwaitFrame *frame);
// Returns the source line at which the frame is, or 0.
uint32_t AwaitFrame_line(const struct AwaitFrame *frame);
