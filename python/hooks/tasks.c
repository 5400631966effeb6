// SPDX-License-Identifier: MIT
// A task's class may be defined by the program, and then reading an attribute
// may run the program's code. Therefore Ocular reads an attribute through a
// descriptor of a C type, or only if the class does not override the access to
// attributes.
#include "python/hooks/tasks.h"
#include "python/hooks/await_chain.h"
#include "python/hooks/callees.h"
#include "python/hooks/frame_stack.h"
#include "tracer/base/harmless.h"
#include "tracer/timeline/mark.h"

#include <string.h>

#define NAME_MOST 64u // bytes of a task's name

// Returns the value of a slot of a class or of a C type's getter, as a new
// reference. Returns NULL if there is no such member. Also returns NULL for a
// member of another kind, because reading it might run any code.
static PyObject *read_member(PyObject *object, PyObject *name)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject *found = _PyType_Lookup(type, name); // borrowed

    if (!found || !(Py_IS_TYPE(found, &PyMemberDescr_Type) ||
                    Py_IS_TYPE(found, &PyGetSetDescr_Type)))
        return NULL;
    return Py_TYPE(found)->tp_descr_get(found, object, (PyObject *)type);
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
    return read_member(callback, ocular_state.names[TASK_OWNER]);
}

// Returns the name that asyncio stores for the task as a new reference, even if
// a derived class overrides get_name(). Returns NULL if the name cannot be read
// without running the program's code.
static PyObject *name_of(PyObject *task)
{
    PyObject *const *names = ocular_state.names;
    PyTypeObject *type = Await_class(task);

    if (type) {
        PyObject *get_name = _PyType_Lookup(type, names[TASK_GET_NAME]);

        return get_name && Py_IS_TYPE(get_name, &PyMethodDescr_Type)
                   ? PyObject_CallOneArg(get_name, task)
                   : NULL;
    }
    return Py_XNewRef(Callees_in_instance(task, names[TASK_NAME]));
}

static void copy_name(PyObject *task, char *out, size_t size)
{
    PyObject *name = name_of(task);
    const char *text =
        name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;

    Harmless_clean(out, size, text ? text : "", false);
    PyErr_Clear();
    Py_XDECREF(name);
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
    struct Mark mark = {.kind = EVENT_TASK};
    char name[NAME_MOST + 1];
    uint64_t taken;

    mark.number = TaskNumbers_of(&ocular_state.tasks, task);
    if (!mark.number)
        return;
    copy_name(task, name, sizeof name);
    mark.name = *name ? name : "task";
    mark.name_size = strlen(mark.name);
    Counting_begin(&ocular_state.engine.counting);
    if (is_open(call))
        Mark_push(call->trace->ring, call->ticks, &mark);
    taken = Clock_read(&ocular_state.engine.clock) - begin;
    Counter_add(&call->trace->overhead, taken);
    Counter_add(&call->trace->paid, taken);
    Counting_end(&ocular_state.engine.counting);
}

void Tasks_note(const struct Call *call)
{
    uint64_t begin = Clock_read(&ocular_state.engine.clock);
    uintptr_t frame = FrameStack_newest(call->state), handle = 0;
    PyObject *task;

    if (!call->code->cold.begins_tasks || call->code->hot.dark)
        return;
    // The handle is the first argument.
    if (FrameStack_code(frame) == call->code->who.address)
        handle = FrameStack_local(frame, 0);
    task = handle ? Tasks_of((PyObject *)handle) : NULL;
    if (task)
        push(call, task, begin);
    PyErr_Clear();
    Py_XDECREF(task);
}

// --- For steps of event loops ------------------------------------------------

// Calls a C function of the module _asyncio without arguments. Returns a new
// reference, or NULL if there is no such function.
static PyObject *call_asyncio(const char *name)
{
    PyObject *function = Callees_in_module("_asyncio", name); // borrowed
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

PyObject *Tasks_of(PyObject *handle)
{
    PyObject *callback, *task;

    if (!handle)
        return call_asyncio("current_task");
    callback = read_member(handle, ocular_state.names[TASK_CALLBACK]);
    task = callback ? task_of(callback) : NULL;
    PyErr_Clear();
    Py_XDECREF(callback);
    return task;
}

void Tasks_name(PyObject *handle, char *out, size_t size)
{
    PyObject *task = Tasks_of(handle);

    *out = '\0';
    if (task && !Py_IsNone(task))
        copy_name(task, out, size);
    Py_XDECREF(task);
}
