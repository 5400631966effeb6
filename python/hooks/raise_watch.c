// SPDX-License-Identifier: MIT
// A type is recognised by its address. A program may free a type and make
// another one at the same address. So struct ExceptionKind has a weak reference
// to its type. CPython clears the address in the weak reference when the type
// dies.
#include "python/hooks/raise_watch.h"
#include "ipc/base/now.h"
#include "python/hooks/adopt.h"
#include "python/hooks/call.h"
#include "python/hooks/tools.h"
#include "tracer/base/tsc_guard.h"
#include "tracer/code/c_calls.h"

#include <math.h>

// CPython needs 0.1 us for each function to switch the event RAISE on and off,
// and 2 to 5 us from 3.15 on. So the event then stays off for longer.
#define LEAST_GAP_S (PY_VERSION_HEX >= 0x030F0000 ? 60.0 : 0.0)

// --- Types -------------------------------------------------------------------

// Returns a pointer to a word that has the address of a type as long as the
// type exists. The word is in a weak reference. A static type is never freed,
// and `*lasting` is its word. Returns NULL if memory is out.
static const void *const *place_of(PyTypeObject *type, const void **lasting)
{
    PyObject *reference;

    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        *lasting = type;
        return lasting;
    }
    reference = PyWeakref_NewRef((PyObject *)type, NULL);
    if (reference)
        return (const void *const *)&((PyWeakReference *)reference)->wr_object;
    PyErr_Clear();
    return NULL;
}

static void release_place(const void *const *place, const void *const *lasting)
{
    if (place && place != lasting)
        Py_DECREF((char *)place - offsetof(PyWeakReference, wr_object));
}

// Returns the module of a class that Python code or a C extension has made, or
// NULL. Runs no Python code.
static const char *module_of(const PyTypeObject *type)
{
    PyObject *key, *value;
    const char *text = NULL;
    Py_ssize_t at = 0;

    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE))
        return NULL;
    // A lookup in the dictionary may compare keys by Python code.
    while (!text && PyDict_Next(type->tp_dict, &at, &key, &value))
        if (PyUnicode_CheckExact(key) && PyUnicode_CheckExact(value) &&
            PyUnicode_CompareWithASCIIString(key, "__module__") == 0)
            text = PyUnicode_AsUTF8(value);
    PyErr_Clear();
    return text;
}

// Writes an exception type's name as a traceback shows it, without the modules
// builtins and __main__.
static void write_name(char *out, size_t size, const PyTypeObject *type)
{
    const char *module = module_of(type), *name = type->tp_name;

    if (type->tp_flags & Py_TPFLAGS_HEAPTYPE)
        name = PyUnicode_AsUTF8(((const PyHeapTypeObject *)type)->ht_qualname);
    PyErr_Clear();
    if (!module || strcmp(module, "builtins") == 0 ||
        strcmp(module, "__main__") == 0)
        snprintf(out, size, "%s", name ? name : "?");
    else
        snprintf(out, size, "%s.%s", module, name ? name : "?");
}

// Returns true for the type by which asyncio or trio cancels a task.
static bool is_cancelled_error(const PyTypeObject *type)
{
    const char *module, *wanted = NULL;

    if (strcmp(type->tp_name, "CancelledError") == 0)
        wanted = "asyncio.exceptions";
    else if (strcmp(type->tp_name, "Cancelled") == 0)
        wanted = "trio";
    module = wanted ? module_of(type) : NULL;
    return module && strcmp(module, wanted) == 0;
}

// Returns true for StopIteration, StopAsyncIteration, GeneratorExit, asyncio's
// CancelledError, trio's Cancelled and their subclasses, which Python uses for
// the flow of control.
static bool is_flow(PyTypeObject *type)
{
    PyObject *bases = type->tp_mro;

    if (PyType_IsSubtype(type, (PyTypeObject *)PyExc_StopIteration) ||
        PyType_IsSubtype(type, (PyTypeObject *)PyExc_StopAsyncIteration) ||
        PyType_IsSubtype(type, (PyTypeObject *)PyExc_GeneratorExit))
        return true;
    for (Py_ssize_t i = 0; bases && i < PyTuple_GET_SIZE(bases); i++)
        if (is_cancelled_error((PyTypeObject *)PyTuple_GET_ITEM(bases, i)))
            return true;
    return false;
}

static inline bool is_known_flow(const struct RaiseWatch *watch,
                                 const PyTypeObject *type)
{
    return (const PyObject *)type == PyExc_StopIteration ||
           (const PyObject *)type == PyExc_GeneratorExit ||
           (watch->flow && *watch->flow == type) ||
           (const PyObject *)type == PyExc_StopAsyncIteration;
}

static void remember_flow(struct RaiseWatch *watch, PyTypeObject *type)
{
    const void *const *place = place_of(type, &watch->lasting);

    release_place(watch->flow, &watch->lasting);
    watch->flow = place;
}

// --- Kinds -------------------------------------------------------------------

static struct ExceptionKind *add_kind(struct Exceptions *exceptions,
                                      struct Code *code, PyTypeObject *type,
                                      uint64_t ticks)
{
    const void *lasting = NULL, *const *place = place_of(type, &lasting);
    // The name may be one byte too long, because exceptions.c then cuts the
    // name, between two characters.
    char name[EXCEPTION_TYPE_SIZE + 1];
    struct ExceptionKind *kind;

    write_name(name, sizeof name, type);
    kind = place ? Exceptions_take(exceptions, code, name, ticks) : NULL;
    if (!kind) {
        release_place(place, &lasting);
        return &exceptions->kinds[0];
    }
    release_place(kind->type, &kind->lasting);
    kind->lasting = lasting;
    kind->type = lasting ? &kind->lasting : place;
    Exceptions_link(exceptions, kind);
    return kind;
}

static uint32_t line_of(PyObject *const *args, const struct Code *code)
{
    size_t unit = PyLong_Check(args[1]) ? Call_unit(args[1]) : SIZE_MAX;
    int line = -1;

    if (unit < code->layout.unit_count)
        line = PyCode_Addr2Line((PyCodeObject *)args[0], (int)(2 * unit));
    return line > 0 ? (uint32_t)line : 0;
}

static struct ExceptionKind *find(struct Exceptions *exceptions,
                                  const struct Code *code,
                                  const PyTypeObject *type, uint64_t ticks)
{
    struct ExceptionKind *kind = Exceptions_find(exceptions, code, type);

    return kind ? kind
                : Exceptions_find_cached(exceptions, code, type->tp_version_tag,
                                         ticks);
}

// Called for the first exception of each type in a function, and for the first
// one that begins in the running function. `kind` is NULL or the exception's
// kind. Returns the exception's kind, or NULL if Python uses the exception for
// control flow.
__attribute__((noinline)) static struct ExceptionKind *
meet(PyObject *const *args, struct Code *code, struct ExceptionKind *kind,
     bool begins, uint64_t ticks)
{
    struct Exceptions *exceptions = &ocular_state.engine.exceptions;
    PyTypeObject *type = Py_TYPE(args[2]);

    if (!kind && is_flow(type)) {
        remember_flow(&ocular_state.raises, type);
        return NULL;
    }
    if (!kind) {
        Exceptions_note_slow(exceptions);
        kind = add_kind(exceptions, code, type, ticks);
        if (PyUnstable_Type_AssignVersionTag(type))
            Exceptions_cache(exceptions, code, type->tp_version_tag, kind);
    }
    if (begins && code && kind != &exceptions->kinds[0])
        atomic_store_explicit(&kind->line, line_of(args, code),
                              memory_order_relaxed);
    return kind;
}

// Returns true if control flow begins in the running function. If the function
// only ends a loop because of the exception, the function is not in the
// exception's traceback.
static bool flow_begins(const PyTracebackObject *trace, const PyObject *code)
{
    PyCodeObject *newest;

    if (!trace || trace->tb_next)
        return false;
    newest = PyFrame_GetCode(trace->tb_frame);
    Py_DECREF(newest); // The frame keeps the code.
    return (PyObject *)newest == code;
}

// If a C function has raised the exception, counts the exception for this C
// function, too.
static void count_in_c(const struct Code *code, PyObject *offset)
{
    struct CPair *pair = PyLong_Check(offset)
                             ? CCalls_raiser(code, (uint32_t)Call_unit(offset))
                             : NULL;
    struct Code *called =
        pair ? Registry_by_id(ocular_state.engine.registry, pair->id) : NULL;

    if (!called)
        return;
    Counter_add(&pair->raised, 1);
    Code_touch(called);
}

static void count(PyObject *const *args, uint64_t ticks)
{
    struct Exceptions *exceptions = &ocular_state.engine.exceptions;
    const PyBaseExceptionObject *exception = (PyBaseExceptionObject *)args[2];
    const PyTracebackObject *trace = (PyTracebackObject *)exception->traceback;
    // The newest entry of the traceback is the running function.
    bool begins = !trace || !trace->tb_next;
    struct ExceptionKind *kind = NULL;
    struct Code *code;

    if (!is_known_flow(&ocular_state.raises, Py_TYPE(args[2]))) {
        code = Adopt_find(&ocular_state, args[0]);
        kind = find(exceptions, code, Py_TYPE(args[2]), ticks);
        if (!kind || (begins && !Counter_get(&kind->counts[EXCEPTION_RAISED])))
            kind = meet(args, code, kind, begins, ticks);
    }
    if (!kind) {
        Counter_add(&exceptions->control, flow_begins(trace, args[0]));
        return;
    }
    Exceptions_count(kind, begins ? EXCEPTION_RAISED : EXCEPTION_PASSED, ticks);
    if (begins && code) {
        Counter_add(&code->cold.raised, 1);
        Code_touch(code);
        if (ocular_state.sees_c)
            count_in_c(code, args[1]);
    }
}

PyObject *RaiseWatch_raise(PyObject *self, PyObject *const *args, size_t nargsf,
                           PyObject *names)
{
    struct State *state = &ocular_state;
    struct Exceptions *exceptions = &state->engine.exceptions;
    uint64_t ticks;

    (void)self, (void)names;
    if (PyErr_Occurred()) // rare.h says why
        return NULL;
    if (PyVectorcall_NARGS(nargsf) < 3 || !PyExceptionInstance_Check(args[2]) ||
        state->phase != PHASE_TRACING)
        return Py_None;
    ticks = Clock_read(&state->engine.clock);
    if (TscGuard_has_tripped())
        return Py_None;
    count(args, ticks);
    if (Exceptions_note(exceptions) &&
        Exceptions_end(exceptions, ticks, Now_ns(CLOCK_PROCESS_CPUTIME_ID)) &&
        Tools_set_raise(state, false) < 0)
        Exceptions_go_on(exceptions, ticks);
    return Py_None;
}

// --- Sessions ----------------------------------------------------------------

// Limits the number of counted exceptions if there is a budget. `rate` is the
// number of seconds per second that tracing may take. If `rate` is 0, the rate
// of a program that uses one core is used.
static void limit(struct State *state, double rate)
{
    const struct Session *session = state->engine.session;
    double share = atomic_load_explicit(&session->budget, memory_order_relaxed);
    bool held = session->config.threshold && !isnan(share);

    Exceptions_limit(&state->engine.exceptions,
                     Clock_read(&state->engine.clock),
                     held ? (rate > 0 ? rate : share) : INFINITY,
                     Account_hook_factor(&session->account));
}

void RaiseWatch_start(struct State *state)
{
    struct Engine *engine = &state->engine;

    Exceptions_begin(&engine->exceptions, Clock_read(&engine->clock),
                     Now_ns(CLOCK_PROCESS_CPUTIME_ID), Clock_hz(&engine->clock),
                     LEAST_GAP_S);
    if (!(state->chosen & CHOSEN_EXCEPTION)) {
        Exceptions_lose(&engine->exceptions);
        return;
    }
    limit(state, 0);
}

void RaiseWatch_look(struct State *state, double rate)
{
    struct Exceptions *exceptions = &state->engine.exceptions;
    uint64_t ticks = Clock_read(&state->engine.clock);

    if (!(state->chosen & CHOSEN_EXCEPTION))
        return;
    if (state->ids_lost) {
        Exceptions_lose(exceptions);
        return;
    }
    limit(state, rate);
    if (Exceptions_look(exceptions, ticks, Now_ns(CLOCK_PROCESS_CPUTIME_ID)) &&
        Tools_set_raise(state, true) < 0)
        Exceptions_stay_off(exceptions);
}

void RaiseWatch_stop(struct State *state)
{
    struct Exceptions *exceptions = &state->engine.exceptions;
    struct RaiseWatch *watch = &state->raises;
    size_t used = Counter_get(&exceptions->used);

    release_place(watch->flow, &watch->lasting);
    *watch = (struct RaiseWatch){0};
    for (size_t i = 0; i < used; i++) {
        struct ExceptionKind *kind = &exceptions->kinds[i];

        release_place(kind->type, &kind->lasting);
        kind->lasting = NULL;
        kind->type = &kind->lasting;
    }
}
