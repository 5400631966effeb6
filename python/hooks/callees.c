// SPDX-License-Identifier: MIT
#include "python/hooks/callees.h"
#include "python/hooks/adopt.h"
#include "tracer/code/links.h"

// If a dark function gets a new caller, it is armed for at most this number of
// hits.
#define NEWCOMER_CALLS 64

static bool is_known(struct State *state, const struct Code *caller,
                     const struct Code *callee)
{
    bool known;

    Counting_begin(&state->engine.counting);
    known = Code_has_caller(callee, caller->hot.id);
    Counting_end(&state->engine.counting);
    return known;
}

static void note_code(struct State *state, struct Code *caller,
                      PyObject *object)
{
    uint64_t threshold = state->engine.session->config.threshold;
    struct Code *callee = Adopt_find(state, object);

    if (!callee || callee == caller || is_known(state, caller, callee))
        return;
    // If a budget is set, the next slice arms caller and callee.
    if (callee->hot.dark && !state->engine.registry->hits)
        Adopt_rearm(state, callee,
                    threshold < NEWCOMER_CALLS ? threshold : NEWCOMER_CALLS,
                    false);
    Engine_link(&state->engine, caller, callee);
}

static const char *const TEXTS[NAME_COUNT] = {
    [NAME_CALL] = "__call__",
    [NAME_NEW] = "__new__",
    [NAME_INIT] = "__init__",
    [NAME_FUNC] = "__func__",
    [NAME_MODULE] = "__module__",
    [NAME_NAME] = "__name__",
    [NAME_QUALNAME] = "__qualname__",
    [TASK_CALLBACK] = "_callback",
    [TASK_OWNER] = "__self__",
    [TASK_GET_NAME] = "get_name",
    [TASK_NAME] = "_name",
    [TASK_COROUTINE] = "_coro",
    [TASK_WHEN] = "_when",
    [TASK_DATA] = "data",
    [TASK_DONE] = "done",
    [TASK_PARENT] = "_parent_task",
};

int Callees_init(struct State *state)
{
    int i;

    for (i = 0; i < NAME_COUNT; i++)
        if (!(state->names[i] = PyUnicode_InternFromString(TEXTS[i])))
            return -1;
    return 0;
}

PyObject *Callees_in_module(const char *module, const char *name)
{
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *found = modules && PyDict_CheckExact(modules)
                          ? PyDict_GetItemString(modules, module)
                          : NULL;

    found = found && PyModule_Check(found)
                ? PyDict_GetItemString(PyModule_GetDict(found), name)
                : NULL;
    PyErr_Clear();
    return found;
}

PyObject *Callees_in_instance(PyObject *object, PyObject *name)
{
    PyObject *value;

    if (Py_TYPE(object)->tp_getattro != PyObject_GenericGetAttr ||
        _PyType_Lookup(Py_TYPE(object), name))
        return NULL;
    value = PyObject_GetAttr(object, name);
    if (!value)
        PyErr_Clear();
    Py_XDECREF(value); // `object` has another reference
    return value;
}

// Notes the call edge if `callable` is a Python function or a method of a
// Python function.
static void note_function(struct State *state, struct Code *caller,
                          PyObject *callable)
{
    if (PyMethod_Check(callable))
        callable = PyMethod_GET_FUNCTION(callable);
    if (PyFunction_Check(callable))
        note_code(state, caller, PyFunction_GET_CODE(callable));
}

static void note_slot(struct State *state, struct Code *caller,
                      PyTypeObject *type, enum Name name)
{
    PyObject *found = _PyType_Lookup(type, state->names[name]); // borrowed

    if (!found)
        return;
    // __new__ is a static method. Reading a static method's __func__, a C
    // member, runs no code.
    found = Py_IS_TYPE(found, &PyStaticMethod_Type)
                ? PyObject_GetAttr(found, state->names[NAME_FUNC])
                : Py_NewRef(found);
    if (found)
        note_function(state, caller, found);
    Py_XDECREF(found);
}

void Callees_note(struct State *state, struct Code *caller, PyObject *callable)
{
    if (state->phase != PHASE_TRACING)
        return;
    if (PyFunction_Check(callable) || PyMethod_Check(callable)) {
        note_function(state, caller, callable);
    } else if (PyType_Check(callable)) {
        note_slot(state, caller, Py_TYPE(callable), NAME_CALL);
        note_slot(state, caller, (PyTypeObject *)callable, NAME_NEW);
        note_slot(state, caller, (PyTypeObject *)callable, NAME_INIT);
    } else {
        note_slot(state, caller, Py_TYPE(callable), NAME_CALL);
    }
    PyErr_Clear();
}
