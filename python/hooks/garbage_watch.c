// SPDX-License-Identifier: MIT
#include "python/hooks/garbage_watch.h"
#include "python/hooks/adopt.h"
#include "python/hooks/call.h"
#include "python/hooks/writer.h"
#include "tracer/base/tsc_guard.h"

// --- The callback ----------------------------------------------------------

// Counts the beginning or the end of a collection at once, because no hit can
// be written.
static void count_now(const struct GarbageWatch *watch, enum HitKind kind,
                      size_t unit, size_t caller)
{
    PyObject *offset = PyLong_FromSize_t(2 * unit);
    PyObject *const args[2] = {watch->code, offset};
    struct Call call;

    Call_init(&call);
    if (offset && Call_look(&call, args, 2))
        Call_count_alone(&call, kind, caller);
    Py_XDECREF(offset);
}

static void write_hit(enum HitKind kind, size_t unit, size_t caller)
{
    const struct GarbageWatch *watch = &ocular_state.garbage;

    if ((!ocular_state.fast ||
         !Writer_write(watch->code, kind, unit, caller)) &&
        !Writer_write_again(watch->code, kind, unit, caller))
        count_now(watch, kind, unit, caller);
}

static void forget(struct Garbage *garbage)
{
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
    write_hit(HIT_GARBAGE, ocular_state.garbage.begin_unit,
              code ? Hit_caller(code) : 0);
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
        write_hit(HIT_GARBAGE_END, ocular_state.garbage.end_unit, 0);
    Garbage_end(garbage, (unsigned)generation, ticks);
    forget(garbage);
}

// Ocular's callback in gc.callbacks. CPython passes "start" or "stop", and a
// dict with the number of the generation. An exception that is set stays set.
// While nothing is traced, for example in a child right after a fork, no
// collection is counted.
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

// Returns a code object named GARBAGE_NAME, without a file and a line. The code
// object has instructions for a beginning and a return, but CPython never runs
// it.
static PyObject *make_code(void)
{
    PyObject *code = Py_CompileString("None", "", Py_eval_input);
    PyObject *replace = code ? PyObject_GetAttrString(code, "replace") : NULL;
    PyObject *none = PyTuple_New(0);
    PyObject *names =
        Py_BuildValue("{sssssi}", "co_name", GARBAGE_NAME, "co_qualname",
                      GARBAGE_NAME, "co_firstlineno", 0);
    PyObject *result =
        replace && none && names ? PyObject_Call(replace, none, names) : NULL;

    Py_XDECREF(names);
    Py_XDECREF(none);
    Py_XDECREF(replace);
    Py_XDECREF(code);
    return result;
}

// Returns the list gc.callbacks, or NULL. The program may have bound the name
// to another object, which CPython does not use. So the list comes from a
// second module gc, which only this function has.
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
        watch->code = make_code();
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

static bool find_units(struct GarbageWatch *watch, const struct Code *code)
{
    unsigned found = 0;

    for (uint32_t i = 0; code && i < code->layout.site_count; i++) {
        const struct Site *site = &code->layout.sites[i];

        if (site->kind == SITE_START)
            watch->begin_unit = (uint8_t)site->unit;
        else if (site->kind == SITE_RETURN)
            watch->end_unit = (uint8_t)site->unit;
        found |= 1u << site->kind;
    }
    return found & 1u << SITE_START && found & 1u << SITE_RETURN;
}

void GarbageWatch_start(struct State *state)
{
    struct GarbageWatch *watch = &state->garbage;

    Adopt_classify(state, (PyCodeObject *)watch->code);
    if (!find_units(watch, Adopt_find(state, watch->code)))
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
    // The end of the last collection may have been missed.
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
