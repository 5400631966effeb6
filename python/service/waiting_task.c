// SPDX-License-Identifier: MIT
// See waiting_task.h.
#include "python/service/waiting_task.h"
#include "python/hooks/adopt.h"
#include "python/hooks/callees.h"

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

// Copies a text to a buffer of `room` bytes. If the text does not fit, cuts it
// between two UTF-8 characters.
static void copy_text(char *to, const char *from, size_t room)
{
    size_t size = strlen(from);

    if (size >= room) {
        size = room - 1;
        while (size && ((uint8_t)from[size] & 0xc0) == 0x80)
            size--;
    }
    memcpy(to, from, size);
    to[size] = '\0';
}

void WaitingTask_name(char *text, const struct AwaitTask *read)
{
    PyObject *keep = NULL;

    if (AwaitTask_is_numbered(read))
        snprintf(text, TASK_TEXT, "Task-%llu",
                 (unsigned long long)AwaitTask_number(read));
    else
        copy_text(text,
                  read->name && PyUnicode_CheckExact(read->name)
                      ? Adopt_text(read->name, &keep)
                      : "?",
                  TASK_TEXT);
    Py_XDECREF(keep);
}

// --- Futures ---------------------------------------------------------------

// Returns asyncio's C class Future or Task if `object` is an instance of the
// class or of a subclass, otherwise NULL.
static PyTypeObject *future_class(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    for (; type; type = type->tp_base)
        if (type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE &&
            (strcmp(type->tp_name, "_asyncio.Task") == 0 ||
             strcmp(type->tp_name, "_asyncio.Future") == 0))
            return type;
    return NULL;
}

static bool is_task(PyObject *object)
{
    struct AwaitTask read;

    AwaitTask_read(&read, object);
    return read.name;
}

// Returns a member of a future as a borrowed reference, or NULL.
static PyObject *member_of(PyObject *future, const char *name)
{
    const PyTypeObject *type = future_class(future);

    return type ? Await_member(future, type, name) : NULL;
}

// Returns true if the future has a result, or false if that is not known.
static bool is_done(PyObject *future)
{
    PyObject *state = member_of(future, "_state");

    return state && PyUnicode_Check(state) &&
           PyUnicode_CompareWithASCIIString(state, "PENDING") != 0;
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
    for (int i = 0; i <= FUTURES && future_class(future); i++) {
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
    const struct State *state;
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

        if (value && future_class(value) && !is_task(value))
            return value;
    }
    return NULL;
}

// Returns the task that runs a TaskGroup, as a borrowed reference, or NULL.
// `callback` is the group's method that is called when a task of it ends.
static PyObject *owner_of(PyObject *callback, const struct State *state)
{
    PyObject *function = PyMethod_GET_FUNCTION(callback);
    PyObject *group = PyMethod_GET_SELF(callback), *task;

    if (!PyFunction_Check(function) ||
        PyUnicode_CompareWithASCIIString(
            ((PyFunctionObject *)function)->func_qualname,
            "TaskGroup._on_task_done") != 0)
        return NULL;
    task = Callees_in_instance(group, state->task_names[TASK_PARENT]);
    return task && is_task(task) ? task : NULL;
}

static void see_callback(struct CallbackSearch *seen, PyObject *callback)
{
    PyObject *task = NULL;

    if (PyMethod_Check(callback))
        task = owner_of(callback, seen->state);
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
                         const struct State *state)
{
    struct CallbackSearch seen = {.waiters = waiters, .state = state};

    for (int i = 0; future && i <= FUTURES && !waiters->task; i++) {
        const PyTypeObject *type = future_class(future);

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
        copy_text(listed->waits_for, dot ? dot + 1 : type, TASK_TEXT);
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
    copy_text(listed->awaited_by, name,
              waiters->count > 1 ? SHORT_TEXT : TASK_TEXT);
    if (waiters->count > 1) {
        size_t size = strlen(listed->awaited_by);

        snprintf(listed->awaited_by + size, TASK_TEXT - size, " +%zd",
                 waiters->count - 1);
    }
}

void WaitingTask_read(struct ListedTask *listed, PyObject *task,
                      enum AwaitState coroutine,
                      const struct TaskCursor *cursor,
                      const struct State *state)
{
    PyObject *future = member_of(task, "_fut_waiter");
    struct Waiters waiters = {NULL, 0};

    if (coroutine == AWAIT_CREATED)
        listed->state = "new";
    else if (coroutine == AWAIT_RUNNING)
        listed->state = "runs";
    else if (!future)
        listed->state = NULL;
    else if (Py_IsNone(future) || is_done(future))
        listed->state = "ready";
    else
        listed->state = "waits";
    if (future && !Py_IsNone(future) && !is_done(future))
        write_awaited(listed, future);
#if PY_VERSION_HEX >= 0x030E0000
    (void)state;
    find_waiters(&waiters, task, cursor);
#else
    (void)cursor;
    find_waiters(&waiters, task, state);
#endif
    write_waiters(listed, &waiters);
}
