// SPDX-License-Identifier: MIT
#include "python/hooks/garbage_watch.h"
#include "python/hooks/adopt.h"
#include "python/hooks/frame_stack.h"
#include "python/hooks/object_watch.h"
#include "python/hooks/stand_in.h"
#include "python/hooks/thread_state.h"
#include "tracer/base/tsc_guard.h"

// --- The callback ----------------------------------------------------------

static void forget(struct Garbage *garbage)
{
    ObjectWatch_collect(&ocular_state, false);
    Garbage_forget(garbage);
    atomic_store_explicit(&ocular_state.garbage.mark.frame, 0,
                          memory_order_relaxed);
}

static void begin(struct Garbage *garbage)
{
    const PyThreadState *state = THREAD_STATE_CALL();
    uintptr_t code = FrameStack_running(state);
    uintptr_t frame = FrameStack_newest(state);
    struct WalkMark *mark = &ocular_state.garbage.mark;
    uint64_t ticks = Clock_read(&ocular_state.engine.clock);

    if (TscGuard_has_tripped())
        return;
    Garbage_begin(garbage, ticks);
    atomic_store_explicit(&mark->instruction,
                          frame ? FrameStack_instruction(frame) : 0,
                          memory_order_relaxed);
    // A walk over frames loads `frame` with acquire, which pairs with this
    // release.
    atomic_store_explicit(&mark->frame, frame ? frame : (uintptr_t)state,
                          memory_order_release);
    StandIn_write(ocular_state.garbage.code, HIT_C_BEGIN,
                  ocular_state.begin_unit, code ? Hit_caller(code) : 0);
    ObjectWatch_collect(&ocular_state, true);
}

static void end(struct Garbage *garbage, PyObject *info)
{
    uint64_t ticks = Clock_read(&ocular_state.engine.clock);
    PyObject *number =
        PyDict_GetItemWithError(info, ocular_state.garbage.generation);
    int overflow;
    long generation = number && PyLong_CheckExact(number)
                          ? PyLong_AsLongAndOverflow(number, &overflow)
                          : 0;

    if (garbage->began && !TscGuard_has_tripped())
        StandIn_write(ocular_state.garbage.code, HIT_C_END,
                      ocular_state.end_unit, 0);
    Garbage_end(garbage, (unsigned)generation, ticks);
    forget(garbage);
}

// Ocular's callback in gc.callbacks. CPython passes "start" or "stop", and a
// dict with the number of the generation. The callback does not clear an
// exception that is set. While nothing is traced, for example in a child right
// after a fork, no collection is counted.
static PyObject *on_garbage(PyObject *self, PyObject *const *args,
                            Py_ssize_t count)
{
    struct Garbage *garbage = &ocular_state.engine.garbage;
    PyObject *error = PyErr_GetRaisedException();

    (void)self;
    if (ocular_state.phase != PHASE_TRACING || TscGuard_has_tripped())
        forget(garbage);
    else if (count == 2 && PyUnicode_Check(args[0]) && PyDict_Check(args[1])) {
        if (PyUnicode_CompareWithASCIIString(args[0], "start") == 0)
            begin(garbage);
        else
            end(garbage, args[1]);
    }
    PyErr_SetRaisedException(error);
    Py_RETURN_NONE;
}

// --- gc.callbacks ----------------------------------------------------------

static PyMethodDef definition = {
    "ocular_counts_collections", (PyCFunction)(void (*)(void))on_garbage,
    METH_FASTCALL, "Counts the collections of garbage while Ocular traces."};

// Returns the code object that stands for the collector. It has no file.
static PyObject *make_code(struct State *state)
{
    PyObject *name = PyUnicode_FromString(GARBAGE_NAME);
    PyObject *file = PyUnicode_FromString("");
    PyObject *code = name && file ? StandIn_new(state, name, file) : NULL;

    Py_XDECREF(name);
    Py_XDECREF(file);
    return code;
}

// Returns the list gc.callbacks, or NULL. The program may have bound the name
// to another object, which CPython does not use. Therefore find_callbacks makes
// a second module gc, which the program does not see, and returns the list of
// this module.
static PyObject *find_callbacks(void)
{
    PyObject *imports = PyImport_ImportModule("_frozen_importlib");
    PyObject *loader =
        imports ? PyObject_GetAttrString(imports, "BuiltinImporter") : NULL;
    PyObject *spec =
        loader ? PyObject_CallMethod(loader, "find_spec", "s", "gc") : NULL;
    PyObject *module =
        spec ? PyObject_CallMethod(loader, "create_module", "O", spec) : NULL;
    PyObject *filled =
        module ? PyObject_CallMethod(loader, "exec_module", "O", module) : NULL;
    PyObject *list =
        filled ? PyObject_GetAttrString(module, "callbacks") : NULL;

    if (list && !PyList_CheckExact(list))
        Py_CLEAR(list);
    PyErr_Clear();
    Py_XDECREF(filled);
    Py_XDECREF(module);
    Py_XDECREF(spec);
    Py_XDECREF(loader);
    Py_XDECREF(imports);
    return list;
}

int GarbageWatch_init(struct State *state)
{
    struct GarbageWatch *watch = &state->garbage;

    if (!watch->callbacks)
        watch->callbacks = find_callbacks();
    if (!watch->code)
        watch->code = make_code(state);
    watch->mark.code = (uintptr_t)watch->code;
    if (!watch->callback)
        watch->callback = PyCFunction_New(&definition, NULL);
    if (!watch->generation)
        watch->generation = PyUnicode_InternFromString("generation");
    return watch->code && watch->callback && watch->generation ? 0 : -1;
}

// Removes Ocular's callback from the list, but keeps its last entry if `keep`
// is true. Returns true if an entry of the callback was kept. The entries are
// not compared by ==, because the entries' methods would run.
static bool remove_ours(const struct GarbageWatch *watch, bool keep)
{
    PyObject *list = watch->callbacks;
    bool kept = false;

    for (Py_ssize_t i = PyList_GET_SIZE(list); i-- > 0;) {
        if (PyList_GET_ITEM(list, i) != watch->callback)
            continue;
        if (keep && !kept)
            kept = true;
        else if (PyList_SetSlice(list, i, i + 1, NULL) < 0)
            PyErr_Clear();
    }
    return kept;
}

void GarbageWatch_start(struct State *state)
{
    struct GarbageWatch *watch = &state->garbage;

    Adopt_classify(state, (PyCodeObject *)watch->code);
    if (!StandIn_find_units(state, Adopt_find(state, watch->code)))
        return;
    watch->on = watch->callbacks;
    GarbageWatch_check(state);
    Counter_set(&state->engine.garbage.known,
                watch->on && remove_ours(watch, true));
}

void GarbageWatch_check(struct State *state)
{
    struct GarbageWatch *watch = &state->garbage;

    if (!watch->on || remove_ours(watch, true))
        return;
    // The hook may have missed the end of the newest collection.
    forget(&state->engine.garbage);
    // Ocular's callback comes last in the list. A callback at the front would
    // move the other callbacks, and a collection in another thread might then
    // call one of them twice.
    if (PyList_Append(watch->callbacks, watch->callback) < 0)
        PyErr_Clear();
}

void GarbageWatch_stop(struct State *state)
{
    struct GarbageWatch *watch = &state->garbage;
    PyObject *error = PyErr_GetRaisedException();

    if (watch->on)
        remove_ours(watch, false);
    watch->on = false;
    forget(&state->engine.garbage);
    PyErr_SetRaisedException(error);
}
