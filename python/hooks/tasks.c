// SPDX-License-Identifier: MIT
// See tasks.h. A task's class, its name and its methods may be the program's
// own, and would run its code: so attributes are read only as the descriptors
// of C types give them, or where a class has no say in it.
#include "python/hooks/tasks.h"
#include "python/hooks/callees.h"
#include "tracer/timeline/mark.h"

#include <string.h>

#define NAME_MOST 64u // bytes of a name

static const char *const NAMES[TASK_NAMES] = {
    [TASK_SELF] = "self",      [TASK_CALLBACK] = "_callback",
    [TASK_OWNER] = "__self__", [TASK_GET_NAME] = "get_name",
    [TASK_NAME] = "_name",
};

int Tasks_init(struct State *state)
{
    int i;

    for (i = 0; i < TASK_NAMES; i++)
        if (!(state->task_names[i] = PyUnicode_InternFromString(NAMES[i])))
            return -1;
    return 0;
}

// The value of a slot of a class, or of a C type's getter; a new reference.
// NULL: there is none, or the member is of another kind, which might run any
// code.
static PyObject *read_member(PyObject *object, PyObject *name)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject *found = Callees_in_class(type, name);

    if (!found || !(Py_IS_TYPE(found, &PyMemberDescr_Type) ||
                    Py_IS_TYPE(found, &PyGetSetDescr_Type)))
        return NULL;
    return Py_TYPE(found)->tp_descr_get(found, object, (PyObject *)type);
}

// The first argument of the call that runs, if it is one of `code`; a new
// reference.
static PyObject *first_argument(const struct Code *code)
{
    PyFrameObject *frame = PyEval_GetFrame(); // borrowed
    PyCodeObject *runs = frame ? PyFrame_GetCode(frame) : NULL;
    bool same = (uintptr_t)runs == code->who.address;

    Py_XDECREF(runs);
    return same ? PyFrame_GetVar(frame, ocular_state.task_names[TASK_SELF])
                : NULL;
}

static bool is_step(PyObject *function)
{
    const PyCodeObject *code;

    if (!PyFunction_Check(function))
        return false;
    code = (const PyCodeObject *)PyFunction_GET_CODE(function);
    return PyUnicode_CompareWithASCIIString(code->co_qualname, "Task.__step") ==
               0 ||
           PyUnicode_CompareWithASCIIString(code->co_qualname,
                                            "Task.__wakeup") == 0;
}

// The task that a callback takes a step of; a new reference. NULL: of none.
// It is one of C's two kinds of callback, or a method of asyncio's Python class
// of tasks.
static PyObject *task_of(PyObject *callback)
{
    PyTypeObject *type = Py_TYPE(callback);

    if (PyMethod_Check(callback))
        return is_step(PyMethod_GET_FUNCTION(callback))
                   ? Py_NewRef(PyMethod_GET_SELF(callback))
                   : NULL;
    if (PyCFunction_CheckExact(callback)) {
        const PyMethodDef *method = ((PyCFunctionObject *)callback)->m_ml;

        return strcmp(method->ml_name, "task_wakeup") == 0
                   ? Py_XNewRef(PyCFunction_GET_SELF(callback))
                   : NULL;
    }
    if (!(type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE) ||
        strcmp(type->tp_name, "_asyncio.TaskStepMethWrapper") != 0)
        return NULL;
    return read_member(callback, ocular_state.task_names[TASK_OWNER]);
}

// C's class of tasks, be it the task's own or a base of that; else NULL.
static PyTypeObject *c_class(PyObject *task)
{
    PyObject *classes = Py_TYPE(task)->tp_mro;
    Py_ssize_t i;

    for (i = 0; classes && i < PyTuple_GET_SIZE(classes); i++) {
        PyTypeObject *type = (PyTypeObject *)PyTuple_GET_ITEM(classes, i);

        if (type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE &&
            strcmp(type->tp_name, "_asyncio.Task") == 0)
            return type;
    }
    return NULL;
}

// Its name as asyncio has it, whatever a derived class makes of get_name(); a
// new reference. NULL: it cannot be read without running the program's code.
static PyObject *name_of(PyObject *task)
{
    PyObject *const *names = ocular_state.task_names;
    PyTypeObject *type = c_class(task);

    if (type) {
        PyObject *get_name = Callees_in_class(type, names[TASK_GET_NAME]);

        return get_name && Py_IS_TYPE(get_name, &PyMethodDescr_Type)
                   ? PyObject_CallOneArg(get_name, task)
                   : NULL;
    }
    type = Py_TYPE(task);
    if (type->tp_getattro != PyObject_GenericGetAttr ||
        Callees_in_class(type, names[TASK_NAME]))
        return NULL;
    return PyObject_GetAttr(task, names[TASK_NAME]);
}

// The size of a name, or less, so that it ends between two characters.
static size_t cut(const char *text, size_t size)
{
    size_t most = NAME_MOST;

    if (size <= most)
        return size;
    while (most && ((uint8_t)text[most] & 0xc0) == 0x80)
        most--;
    return most;
}

// The call is open still: it is not dark, and there was memory for its frame.
static bool is_open(const struct Call *call)
{
    const struct Frame *top = call->trace->top;

    return call->trace->ring && top->code == call->code &&
           top->depth == call->depth;
}

static void push(const struct Call *call, PyObject *task, uint64_t begin)
{
    struct Mark mark = {.kind = EVENT_TASK, .name = "task", .name_size = 4};
    PyObject *name;
    Py_ssize_t size;
    const char *text = NULL;

    mark.number = TaskNumbers_of(&ocular_state.tasks, task);
    if (!mark.number)
        return;
    name = name_of(task);
    if (name && PyUnicode_Check(name))
        text = PyUnicode_AsUTF8AndSize(name, &size);
    if (text) {
        mark.name = text;
        mark.name_size = cut(text, (size_t)size);
    }
    Counting_begin(&ocular_state.engine.counting);
    if (is_open(call))
        Mark_push(call->trace->ring, call->ticks, &mark);
    Counter_add(&call->trace->overhead,
                Clock_read(&ocular_state.engine.clock) - begin);
    Counting_end(&ocular_state.engine.counting);
    Py_XDECREF(name);
}

void Tasks_note(const struct Call *call)
{
    uint64_t begin = Clock_read(&ocular_state.engine.clock);
    PyObject *handle, *callback, *task;

    if (!call->code->cold.begins_tasks || call->code->hot.dark)
        return;
    handle = first_argument(call->code);
    callback = handle
                   ? read_member(handle, ocular_state.task_names[TASK_CALLBACK])
                   : NULL;
    task = callback ? task_of(callback) : NULL;
    if (task)
        push(call, task, begin);
    PyErr_Clear();
    Py_XDECREF(task);
    Py_XDECREF(callback);
    Py_XDECREF(handle);
}
