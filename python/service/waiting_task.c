// SPDX-License-Identifier: MIT
// See waiting_task.h.
#include "python/service/waiting_task.h"
#include "python/hooks/adopt.h"
#include "python/hooks/callees.h"
#include "tracer/base/harmless.h"

#include <stdio.h>
#include <string.h>

// A chain of futures has at most FUTURES futures that are no tasks.
#define FUTURES 4
// Largest number of callbacks of a future, or of entries of a set, that are
// read.
#define LOOKS 64
// Largest size in bytes of a task's name if a number of tasks follows the name.
#define SHORT_TEXT 41

// --- Names -----------------------------------------------------------------

void WaitingTask_name(char *text, const struct AwaitTask *read)
{
    PyObject *keep = NULL;

    if (AwaitTask_is_numbered(read))
        snprintf(text, TASK_TEXT, "Task-%llu",
                 (unsigned long long)AwaitTask_number(read));
    else
        Harmless_clean(text, TASK_TEXT,
                       read->name && PyUnicode_CheckExact(read->name)
                           ? Adopt_text(read->name, &keep)
                           : "?",
                       false);
    Py_XDECREF(keep);
}

// --- Futures ---------------------------------------------------------------

static bool is_task(PyObject *object)
{
    struct AwaitTask read;

    AwaitTask_read(&read, object);
    return read.name;
}

// Returns a member of a future as a borrowed reference, or NULL.
static PyObject *member_of(PyObject *future, const char *name)
{
    const PyTypeObject *type = Await_class(future);

    return type ? Await_member(future, type, name) : NULL;
}

// --- Who waits for a task --------------------------------------------------

// The first task that waits for a future, and the number of all tasks that wait
// for it.
struct Waiters {
    PyObject *task; // NULL if none is known
    Py_ssize_t count;
};

#if PY_VERSION_HEX >= 0x030E0000

static void find_waiters(struct Waiters *waiters, PyObject *future,
                         const struct TaskCursor *cursor)
{
    for (int i = 0; i <= FUTURES && Await_class(future); i++) {
        PyObject *by = TaskCursor_awaited_by(cursor, future);

        waiters->count = by != NULL;
        if (by && PyAnySet_Check(by)) {
            const PySetObject *set = (const PySetObject *)by;

            waiters->count = set->used;
            by = NULL;
            for (Py_ssize_t at = 0; at <= set->mask && at < LOOKS && !by; at++)
                if (set->table[at].key && set->table[at].hash != -1)
                    by = set->table[at].key;
        }
        if (!by)
            return;
        if (is_task(by)) {
            waiters->task = by;
            return;
        }
        future = by;
    }
}

#else

// The search for waiting tasks in a future's callbacks.
struct CallbackSearch {
    struct Waiters *waiters;
    PyObject *next; // The next future whose callbacks are searched, or NULL.
};

// Returns the future that a function of asyncio completes, or NULL. gather(),
// wait() and shield() add such functions to the futures that they wait for.
static PyObject *completed_by(PyObject *function)
{
    static const char *const NAMES[] = {"gather.<locals>._done_callback",
                                        "_wait.<locals>._on_completion",
                                        "shield.<locals>._inner_done_callback"};
    PyObject *name = ((PyFunctionObject *)function)->func_qualname;
    PyObject *closure = PyFunction_GET_CLOSURE(function);
    bool known = false;

    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        known |= PyUnicode_CompareWithASCIIString(name, NAMES[i]) == 0;
    for (Py_ssize_t i = 0; known && closure && i < PyTuple_GET_SIZE(closure);
         i++) {
        PyObject *variable = PyTuple_GET_ITEM(closure, i);
        PyObject *value = PyCell_Check(variable) ? PyCell_GET(variable) : NULL;

        if (value && Await_class(value) && !is_task(value))
            return value;
    }
    return NULL;
}

// Returns the task that runs a TaskGroup, as a borrowed reference, or NULL.
// `callback` is the group's method that is called when a task of it ends.
static PyObject *owner_of(PyObject *callback)
{
    PyObject *function = PyMethod_GET_FUNCTION(callback);
    PyObject *group = PyMethod_GET_SELF(callback), *task;

    if (!PyFunction_Check(function) ||
        PyUnicode_CompareWithASCIIString(
            ((PyFunctionObject *)function)->func_qualname,
            "TaskGroup._on_task_done") != 0)
        return NULL;
    task = Callees_in_instance(group, ocular_state.names[TASK_PARENT]);
    return task && is_task(task) ? task : NULL;
}

static void see_callback(struct CallbackSearch *seen, PyObject *callback)
{
    PyObject *task = NULL;

    if (PyMethod_Check(callback))
        task = owner_of(callback);
    else if (PyFunction_Check(callback))
        seen->next = seen->next ? seen->next : completed_by(callback);
    else if (PyCFunction_CheckExact(callback) &&
             strcmp(((PyCFunctionObject *)callback)->m_ml->ml_name,
                    "task_wakeup") == 0)
        task = PyCFunction_GET_SELF(callback);
    if (!task)
        return;
    seen->waiters->count++;
    if (!seen->waiters->task)
        seen->waiters->task = task;
}

// A future refers to its first callback, and to a list of the other callbacks,
// each in a tuple with its context.
static int see(PyObject *object, void *context)
{
    if (!PyList_CheckExact(object)) {
        see_callback(context, object);
        return 0;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(object) && i < LOOKS; i++) {
        PyObject *pair = PyList_GET_ITEM(object, i);

        if (PyTuple_CheckExact(pair) && PyTuple_GET_SIZE(pair) == 2)
            see_callback(context, PyTuple_GET_ITEM(pair, 0));
    }
    return 0;
}

static void find_waiters(struct Waiters *waiters, PyObject *future,
                         const struct TaskCursor *cursor)
{
    struct CallbackSearch seen = {.waiters = waiters};

    (void)cursor;
    for (int i = 0; future && i <= FUTURES && !waiters->task; i++) {
        const PyTypeObject *type = Await_class(future);

        seen.next = NULL;
        if (type && type->tp_traverse)
            type->tp_traverse(future, see, &seen);
        future = seen.next;
    }
}

#endif

// --- One task --------------------------------------------------------------

static void write_awaited(struct ListedTask *listed, PyObject *future)
{
    const char *type = Py_TYPE(future)->tp_name, *dot = strrchr(type, '.');
    struct AwaitTask read;

    AwaitTask_read(&read, future);
    if (read.name)
        WaitingTask_name(listed->waits_for, &read);
    else
        Harmless_clean(listed->waits_for, TASK_TEXT, dot ? dot + 1 : type,
                       false);
}

static void write_waiters(struct ListedTask *listed,
                          const struct Waiters *waiters)
{
    struct AwaitTask read;
    char name[TASK_TEXT];

    if (!waiters->task)
        return;
    AwaitTask_read(&read, waiters->task);
    if (!read.name)
        return;
    WaitingTask_name(name, &read);
    Harmless_clean(listed->awaited_by,
                   waiters->count > 1 ? SHORT_TEXT : TASK_TEXT, name, false);
    if (waiters->count > 1) {
        size_t size = strlen(listed->awaited_by);

        snprintf(listed->awaited_by + size, TASK_TEXT - size, " +%zd",
                 waiters->count - 1);
    }
}

void WaitingTask_read(struct ListedTask *listed, PyObject *task,
                      enum AwaitState coroutine,
                      const struct TaskCursor *cursor)
{
    PyObject *future = member_of(task, "_fut_waiter");
    struct Waiters waiters = {NULL, 0};

    if (coroutine == AWAIT_CREATED)
        listed->state = "new";
    else if (coroutine == AWAIT_RUNNING)
        listed->state = "runs";
    else if (!future)
        listed->state = NULL;
    else if (Py_IsNone(future) || Await_is_done(future))
        listed->state = "ready";
    else
        listed->state = "waits";
    if (future && !Py_IsNone(future) && !Await_is_done(future))
        write_awaited(listed, future);
    find_waiters(&waiters, task, cursor);
    write_waiters(listed, &waiters);
}
