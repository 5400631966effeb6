// SPDX-License-Identifier: MIT
// A task's class may be defined by the program, and then reading an attribute
// may run the program's code. Therefore Ocular reads an attribute through a
// descriptor of a C type, or only if the class does not override the access to
// attributes.
#include "python/hooks/tasks.h"
#include "python/hooks/callees.h"
#include "tracer/timeline/mark.h"

#include <stdio.h>
#include <string.h>

#define NAME_MOST 64u // bytes of a task's name

static const char *const NAMES[TASK_NAMES] = {
    [TASK_SELF] = "self",
    [TASK_CALLBACK] = "_callback",
    [TASK_OWNER] = "__self__",
    [TASK_GET_NAME] = "get_name",
    [TASK_NAME] = "_name",
    [TASK_COROUTINE] = "_coro",
    [TASK_WHEN] = "_when",
    [TASK_MODULE] = "asyncio.tasks",
    [TASK_SCHEDULED] = "_scheduled_tasks",
    [TASK_EAGER] = "_eager_tasks",
    [TASK_DATA] = "data",
    [TASK_DONE] = "done",
    [TASK_C_MODULE] = "_asyncio",
    [TASK_C_CLASS] = "Task",
    [TASK_PARENT] = "_parent_task",
};

int Tasks_init(struct State *state)
{
    int i;

    for (i = 0; i < TASK_NAMES; i++)
        if (!(state->task_names[i] = PyUnicode_InternFromString(NAMES[i])))
            return -1;
    return 0;
}

// Returns the value of a slot of a class or of a C type's getter, as a new
// reference. Returns NULL if there is no such member. Also returns NULL for a
// member of another kind, because reading it might run any code.
static PyObject *read_member(PyObject *object, PyObject *name)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject *found = Callees_in_class(type, name);

    if (!found || !(Py_IS_TYPE(found, &PyMemberDescr_Type) ||
                    Py_IS_TYPE(found, &PyGetSetDescr_Type)))
        return NULL;
    return Py_TYPE(found)->tp_descr_get(found, object, (PyObject *)type);
}

// If the running call is a call of `code`, returns the first argument (self) as
// a new reference, otherwise NULL.
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

// If `callback` makes a step of a task, returns the task as a new reference,
// otherwise NULL. The callback is one of two kinds that asyncio's C code makes,
// or a method of asyncio's Task in Python.
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

// Returns asyncio's C class Task if `task` is an instance of this class or of a
// subclass, otherwise NULL.
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

// Returns the name that asyncio stores for the task as a new reference, even if
// a derived class overrides get_name(). Returns NULL if the name cannot be read
// without running the program's code.
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
    return Py_XNewRef(Callees_in_instance(task, names[TASK_NAME]));
}

// Returns the number of bytes, at most `most`, after which a UTF-8 text can be
// cut without cutting a character.
static size_t cut(const char *text, size_t size, size_t most)
{
    if (size <= most)
        return size;
    while (most && ((uint8_t)text[most] & 0xc0) == 0x80)
        most--;
    return most;
}

// Returns true if the call's frame is on top of the thread's stack. The frame
// is missing if the code is dark or memory was out.
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
    uint64_t taken;

    mark.number = TaskNumbers_of(&ocular_state.tasks, task);
    if (!mark.number)
        return;
    name = name_of(task);
    if (name && PyUnicode_Check(name))
        text = PyUnicode_AsUTF8AndSize(name, &size);
    if (text) {
        mark.name = text;
        mark.name_size = cut(text, (size_t)size, NAME_MOST);
    }
    Counting_begin(&ocular_state.engine.counting);
    if (is_open(call))
        Mark_push(call->trace->ring, call->ticks, &mark);
    taken = Clock_read(&ocular_state.engine.clock) - begin;
    Counter_add(&call->trace->overhead, taken);
    Counter_add(&call->trace->paid, taken);
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

// --- For steps of event loops ------------------------------------------------

// Calls a C function of the module _asyncio without arguments. Returns a new
// reference, or NULL if there is no such function.
static PyObject *call_asyncio(const char *name)
{
    PyObject *modules = PySys_GetObject("modules"); // borrowed
    PyObject *module = modules && PyDict_CheckExact(modules)
                           ? PyDict_GetItemString(modules, "_asyncio")
                           : NULL;
    PyObject *function =
        module && PyModule_CheckExact(module)
            ? PyDict_GetItemString(PyModule_GetDict(module), name)
            : NULL;
    PyObject *result = function && PyCFunction_CheckExact(function)
                           ? PyObject_CallNoArgs(function)
                           : NULL;

    PyErr_Clear();
    return result;
}

bool Tasks_loop_runs(void)
{
    PyObject *loop = call_asyncio("_get_running_loop");
    bool runs = loop && !Py_IsNone(loop);

    Py_XDECREF(loop);
    return runs;
}

static void copy_name(PyObject *task, char *out, size_t size)
{
    PyObject *name = task && !Py_IsNone(task) ? name_of(task) : NULL;
    Py_ssize_t length;
    const char *text = name && PyUnicode_Check(name)
                           ? PyUnicode_AsUTF8AndSize(name, &length)
                           : NULL;

    *out = '\0';
    if (text)
        snprintf(out, size, "%.*s", (int)cut(text, (size_t)length, size - 1),
                 text);
    PyErr_Clear();
    Py_XDECREF(name);
}

PyObject *Tasks_of(PyObject *handle)
{
    PyObject *callback, *task;

    if (!handle)
        return call_asyncio("current_task");
    callback = read_member(handle, ocular_state.task_names[TASK_CALLBACK]);
    task = callback ? task_of(callback) : NULL;
    PyErr_Clear();
    Py_XDECREF(callback);
    return task;
}

void Tasks_name(PyObject *handle, char *out, size_t size)
{
    PyObject *task = Tasks_of(handle);

    copy_name(task, out, size);
    Py_XDECREF(task);
}
