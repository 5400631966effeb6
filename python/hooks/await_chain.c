// SPDX-License-Identifier: MIT
// From 3.14 on, only CPython's internal headers have the states of a generator
// and the layout that CPython tells debuggers.
#define Py_BUILD_CORE 1
#include "python/hooks/await_chain.h"
#include "python/hooks/callees.h"

#if PY_VERSION_HEX >= 0x030E0000
#include <internal/pycore_frame.h>
#include <internal/pycore_runtime.h>
#endif

#include <stdlib.h>
#include <string.h>

// --- A task ----------------------------------------------------------------

static bool is_task_class(const PyTypeObject *type)
{
    return type && strcmp(type->tp_name, "_asyncio.Task") == 0;
}

PyTypeObject *Await_class(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    for (; type; type = type->tp_base)
        if (type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE &&
            (is_task_class(type) ||
             strcmp(type->tp_name, "_asyncio.Future") == 0))
            return type;
    return NULL;
}

bool Await_is_done(PyObject *object)
{
    PyTypeObject *type = Await_class(object);
    PyObject *done =
        type ? _PyType_Lookup(type, ocular_state.names[TASK_DONE]) : NULL;
    PyObject *result = done && Py_IS_TYPE(done, &PyMethodDescr_Type)
                           ? PyObject_CallOneArg(done, object)
                           : NULL;

    PyErr_Clear();
    Py_XDECREF(result); // True and False are never freed
    return result == Py_True;
}

// The objects to which a task refers, in the order of CPython's walk over them.
struct References {
    PyObject *all[4]; // the class, the context, the coroutine, the name
    int count;
};

static int see(PyObject *object, void *context)
{
    struct References *seen = context;

    seen->all[seen->count++] = object;
    return seen->count == 4;
}

// Reads a task whose class is not asyncio's C class. Whether it has ended is
// known only from its coroutine.
static void read_other(struct AwaitTask *read, PyObject *task)
{
    PyObject *const *names = ocular_state.names;
    PyObject *coroutine = Callees_in_instance(task, names[TASK_COROUTINE]);

    if (AwaitFrame_of(coroutine).object)
        *read = (struct AwaitTask){
            .coroutine = coroutine,
            .name = Callees_in_instance(task, names[TASK_NAME]),
            .in_python = true,
        };
}

void AwaitTask_read(struct AwaitTask *read, PyObject *task)
{
    struct References seen = {.count = 0};
    PyTypeObject *type = task ? Await_class(task) : NULL;

    *read = (struct AwaitTask){.coroutine = NULL};
    if (!is_task_class(type)) {
        if (task && Py_REFCNT(task) > 0)
            read_other(read, task);
        return;
    }
    // The method get_name() is not called, because it would make a str that
    // stays in the program's memory.
    if (type->tp_traverse)
        type->tp_traverse(task, see, &seen);
    if (seen.count < 4 || seen.all[0] != (PyObject *)Py_TYPE(task))
        return;
    read->coroutine = seen.all[2];
    read->name = seen.all[3];
    __builtin_prefetch(read->coroutine);
    __builtin_prefetch((char *)read->coroutine + 64);
    __builtin_prefetch((char *)read->coroutine + 128);
    __builtin_prefetch(read->name);
}

void AwaitTask_prefetch(const PyObject *task)
{
    __builtin_prefetch(task);
    __builtin_prefetch((const char *)task + 64);
    __builtin_prefetch((const char *)task + 128);
}

bool AwaitTask_is_numbered(const struct AwaitTask *read)
{
    return read->name && PyLong_CheckExact(read->name) && !read->in_python;
}

uint64_t AwaitTask_number(const struct AwaitTask *read)
{
    static const char BEGIN[] = "Task-";
    const char *text;
    char *end;
    long long number = 0;
    int overflow;

    if (AwaitTask_is_numbered(read)) {
        number = PyLong_AsLongLongAndOverflow(read->name, &overflow);
    } else if (read->name && !read->in_python &&
               PyUnicode_CheckExact(read->name) &&
               PyUnicode_IS_COMPACT_ASCII(read->name)) {
        text = (const char *)PyUnicode_1BYTE_DATA(read->name);
        if (strncmp(text, BEGIN, sizeof BEGIN - 1) != 0)
            return 0;
        text += sizeof BEGIN - 1;
        number = *text >= '1' && *text <= '9' ? strtoll(text, &end, 10) : 0;
        if (number && *end)
            return 0;
    }
    return number > 0 ? (uint64_t)number : 0;
}

// --- A chain ---------------------------------------------------------------

#if PY_VERSION_HEX >= 0x030E0000

// Byte offset in _PyInterpreterFrame of the end of the value stack, only for
// prefetching. The awaited object is AWAITED objects before this end.
#define FRAME_STACK_END 64
#define TAGS ((uintptr_t)3) // The tag bits of a _PyStackRef.
#if PY_VERSION_HEX >= 0x030F0000
#define AWAITED 2
#else
#define AWAITED 1
#endif

static struct _PyInterpreterFrame *frame_in(PyObject *generator)
{
    return (struct _PyInterpreterFrame *)((char *)generator +
                                          _PyRuntime.debug_offsets.gen_object
                                              .gi_iframe);
}

static enum AwaitState state_of(PyObject *generator)
{
    int state = *((const int8_t *)generator +
                  _PyRuntime.debug_offsets.gen_object.gi_frame_state);

    return state == FRAME_CREATED         ? AWAIT_CREATED
           : state == FRAME_EXECUTING     ? AWAIT_RUNNING
           : FRAME_STATE_SUSPENDED(state) ? AWAIT_SUSPENDED
                                          : AWAIT_ENDED;
}

static const char *awaited_in(const char *frame)
{
    const uintptr_t *end = *(const uintptr_t *const *)(frame + FRAME_STACK_END);

    return (const char *)(end[-AWAITED] & ~TAGS);
}

// Returns the object that the frame awaits below the top of its stack. Returns
// NULL if the stack has nothing below the top.
static PyObject *yielded_to(const struct AwaitFrame *frame)
{
    const char *at = (const char *)frame_in(frame->object);
    const uintptr_t *end =
        *(const uintptr_t *const *)(at + _PyRuntime.debug_offsets
                                             .interpreter_frame.stackpointer);
    const uintptr_t *stack =
        (const uintptr_t *)(at + _PyRuntime.debug_offsets.interpreter_frame
                                     .localsplus) +
        frame->code->co_nlocalsplus;

    return end - stack > AWAITED ? (PyObject *)(end[-AWAITED - 1] & ~TAGS)
                                 : NULL;
}

#else

// The state of a generator that has not begun (enum _framestate).
#if PY_VERSION_HEX < 0x030D0000
#define CREATED (-2)
#else
#define CREATED (-3)
#endif

// Byte offsets in _PyInterpreterFrame, only for reading ahead.
#define FRAME_STACK_TOP 64
#define FRAME_LOCALS 72

static struct _PyInterpreterFrame *frame_in(PyObject *generator)
{
    return (struct _PyInterpreterFrame *)((PyGenObject *)generator)->gi_iframe;
}

static enum AwaitState state_of(PyObject *generator)
{
    int state = ((const PyGenObject *)generator)->gi_frame_state;

    return state > 0          ? AWAIT_ENDED
           : state == 0       ? AWAIT_RUNNING
           : state == CREATED ? AWAIT_CREATED
                              : AWAIT_SUSPENDED;
}

static const char *awaited_in(const char *frame)
{
    int top = *(const int *)(frame + FRAME_STACK_TOP);

    return top > 0 ? ((const char *const *)(frame + FRAME_LOCALS))[top - 1]
                   : NULL;
}

#endif

void AwaitFrame_prefetch(const struct AwaitFrame *frame)
{
    const char *inner;

    if (!frame->object || frame->state != AWAIT_SUSPENDED)
        return;
    inner = awaited_in((const char *)frame_in(frame->object));
    if (!inner)
        return;
    __builtin_prefetch(inner);
    __builtin_prefetch(inner + 64);
    __builtin_prefetch(inner + 128);
}

PyObject *Await_member(PyObject *object, const PyTypeObject *type,
                       const char *name)
{
    const PyGetSetDef *member = type->tp_getset;
    PyObject *value;

    while (member && member->name && strcmp(member->name, name) != 0)
        member++;
    if (!member || !member->name)
        return NULL;
    value = member->get(object, member->closure);
    if (!value)
        PyErr_Clear();
    Py_XDECREF(value);
    return value;
}

static bool is_frame(PyObject *object)
{
    return PyCoro_CheckExact(object) || PyGen_CheckExact(object) ||
           PyAsyncGen_CheckExact(object);
}

static bool is_wrapper(PyObject *object)
{
    static const char *const NAMES[] = {
        "coroutine_wrapper", "async_generator_asend", "async_generator_athrow",
        "anext_awaitable"};
    const PyTypeObject *type = Py_TYPE(object);

    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE)
        return false;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(type->tp_name, NAMES[i]) == 0)
            return true;
    return false;
}

static int see_wrapped(PyObject *object, void *context)
{
    PyObject **found = context;

    if (!is_frame(object) && !is_wrapper(object))
        return 0;
    *found = object;
    return 1;
}

struct AwaitFrame AwaitFrame_of(PyObject *object)
{
    struct AwaitFrame frame = {.state = AWAIT_ENDED};

    // An anext_awaitable holds an async_generator_asend.
    for (int i = 0; i < 2 && object && is_wrapper(object); i++) {
        PyObject *wrapped = NULL;

        Py_TYPE(object)->tp_traverse(object, see_wrapped, &wrapped);
        object = wrapped;
    }
    if (!object || !is_frame(object))
        return frame;
    frame.object = object;
    frame.state = state_of(object);
    if (frame.state == AWAIT_ENDED)
        return frame;
    frame.code =
        (PyCodeObject *)PyUnstable_InterpreterFrame_GetCode(frame_in(object));
    frame.instruction = PyUnstable_InterpreterFrame_GetLasti(frame_in(object));
    Py_DECREF(frame.code); // the frame has another reference
    return frame;
}

// Returns the object that the frame awaits, as a borrowed reference, or NULL.
static PyObject *awaited_by(const struct AwaitFrame *frame)
{
    PyObject *object = frame->object, *awaited;

    if (!object || frame->state != AWAIT_SUSPENDED)
        return NULL;
    awaited = Await_member(object, Py_TYPE(object),
                           PyCoro_CheckExact(object)  ? "cr_await"
                           : PyGen_CheckExact(object) ? "gi_yieldfrom"
                                                      : "ag_await");
    return awaited != Py_None ? awaited : NULL;
}

struct AwaitFrame AwaitFrame_inner(const struct AwaitFrame *frame)
{
    PyObject *inner = awaited_by(frame);

    return inner ? AwaitFrame_of(inner)
                 : (struct AwaitFrame){.state = AWAIT_ENDED};
}

struct AwaitFrame AwaitFrame_yielded(const struct AwaitFrame *frame)
{
#if PY_VERSION_HEX >= 0x030E0000
    // The hook runs before the coroutine is suspended, with the yielded value
    // on top of the stack.
    if (frame->state == AWAIT_RUNNING && PyCoro_CheckExact(frame->object))
        return AwaitFrame_of(yielded_to(frame));
#endif
    return AwaitFrame_inner(frame);
}

PyCodeObject *AwaitFrame_code(const struct AwaitFrame *frame)
{
    PyCodeObject *code = frame->code;

    if (code || !frame->object)
        return code;
    // A coroutine is no generator for PyGen_GetCode.
    code = (PyCodeObject *)PyUnstable_InterpreterFrame_GetCode(
        frame_in(frame->object));
    Py_DECREF(code); // the frame has another reference
    return code;
}

uintptr_t AwaitFrame_address(PyObject *object)
{
    struct AwaitFrame frame = AwaitFrame_of(object);

    return frame.object ? (uintptr_t)frame_in(frame.object) : 0;
}

static int see_future(PyObject *object, void *context)
{
    PyObject **found = context;

    if (!Await_class(object))
        return 0;
    *found = object;
    return 1;
}

// A coroutine that awaits a future awaits an iterator, which has the only
// reference to the future.
enum AwaitKind AwaitFrame_waits_for(const struct AwaitFrame *frame)
{
    PyObject *awaited = awaited_by(frame), *future = NULL;

    // asyncio.sleep(0) yields None, and the loop continues the task at once.
    if (!awaited)
        return AWAITS_LOOP;
    if (strcmp(Py_TYPE(awaited)->tp_name, "_asyncio.FutureIter") == 0)
        Py_TYPE(awaited)->tp_traverse(awaited, see_future, &future);
    if (!future)
        return AWAITS_OTHER;
    if (Await_is_done(future))
        return AWAITS_LOOP;
    return is_task_class(Await_class(future)) ||
                   strcmp(Py_TYPE(future)->tp_name, "_GatheringFuture") == 0
               ? AWAITS_TASK
               : AWAITS_FUTURE;
}

uint32_t AwaitFrame_line(const struct AwaitFrame *frame)
{
    int line =
        frame->code
            ? PyUnstable_InterpreterFrame_GetLine(frame_in(frame->object))
            : 0;

    return line > 0 ? (uint32_t)line : 0;
}
