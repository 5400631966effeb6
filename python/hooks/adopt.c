// SPDX-License-Identifier: MIT
#include "python/hooks/adopt.h"
#include "ipc/own_file.h"
#include "python/hooks/frame_stack.h"
#include "python/hooks/tools.h"
#include "tracer/code/arming.h"
#include "tracer/code/c_calls.h"
#include "tracer/code/precise.h"
#include "tracer/code/spans.h"

#include <math.h>
#include <string.h>

const char *Adopt_text(PyObject *text, PyObject **keeper)
{
    PyObject *part = PyUnicode_Substring(text, 0, CODE_TEXT_SIZE);

    *keeper = part
                  ? PyUnicode_AsEncodedString(part, "utf-8", "backslashreplace")
                  : NULL;
    Py_XDECREF(part);
    PyErr_Clear();
    return *keeper ? PyBytes_AS_STRING(*keeper) : "?";
}

bool Adopt_is_in(const PyCodeObject *code, const char *ending)
{
    Py_ssize_t size, length = (Py_ssize_t)strlen(ending);
    const char *path = PyUnicode_AsUTF8AndSize(code->co_filename, &size);

    if (!path)
        PyErr_Clear();
    return path && size >= length &&
           memcmp(path + size - length, ending, (size_t)length) == 0;
}

bool Adopt_runs_handles(const PyCodeObject *code)
{
    return PyUnicode_CompareWithASCIIString(code->co_qualname, "Handle._run") ==
               0 &&
           code->co_argcount >= 1 && Adopt_is_in(code, "/asyncio/events.py");
}

// Returns true if `file` is a module of Ocular itself, which is not traced.
// Subpackages of Ocular's package, such as the demo, are traced.
static bool is_ours(const struct State *state, const char *file)
{
    const char *slash = strrchr(file, '/');
    size_t length = strlen(state->package);

    return slash && (size_t)(slash - file) == length &&
           strncmp(file, state->package, length) == 0;
}

// Returns the bytecode as it was compiled, as a new reference. CPython caches
// this copy as long as the code lives (codeobject.c, _PyCode_GetCode), which
// would double the memory of all code that runs. So read_bytecode removes the
// copy from CPython's cache.
static PyObject *read_bytecode(PyCodeObject *code)
{
    bool kept = code->_co_cached && code->_co_cached->_co_code;
    PyObject *bytecode = PyCode_GetCode(code);

    if (bytecode && !kept && code->_co_cached)
        Py_CLEAR(code->_co_cached->_co_code);
    return bytecode;
}

static enum CodeEnds ends_of(int flags)
{
    if (flags & CO_ASYNC_GENERATOR)
        return ENDS_MOST;
    return (flags & (CO_GENERATOR | CO_ITERABLE_COROUTINE)) == CO_GENERATOR
               ? ENDS_FEW
               : ENDS_ALL;
}

// A function's lines are counted only if it has at most this number of lines.
// Before 3.13.3, an event of a line that is more than 127 lines behind the
// function's first line takes up to 45 us (gh-127953). The lines of a function
// with more lines are not counted, unless the user wants all hits.
static uint32_t lines_most(const struct State *state)
{
    if (!(state->chosen & CHOSEN_LINE))
        return 0;
    return Py_Version < 0x030D0300 && state->can_darken ? LINES_NEAR
                                                        : LINES_MOST;
}

// Makes a struct Code and sets it as the extra of `code`. Returns NULL without
// an exception if memory is out.
static struct Code *make_code(struct State *state, PyCodeObject *code,
                              const char *file, const char *name,
                              uint64_t threshold)
{
    struct Registry *registry = state->engine.registry;
    PyObject *bytecode = read_bytecode(code);
    struct Code *result = NULL;

    if (bytecode) {
        struct CodeSource source = {
            .address = (uintptr_t)code,
            .name = name,
            .file = file,
            .line = (uint32_t)code->co_firstlineno,
            .version = code->co_version,
            .bytecode = (const uint8_t *)PyBytes_AS_STRING(bytecode),
            .bytecode_size = (size_t)PyBytes_GET_SIZE(bytecode),
            .line_table =
                (const uint8_t *)PyBytes_AS_STRING(code->co_linetable),
            .line_table_size = (size_t)PyBytes_GET_SIZE(code->co_linetable),
            .suspends = code->co_flags &
                        (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR),
            .coroutine =
                code->co_flags & (CO_COROUTINE | CO_ITERABLE_COROUTINE),
            .lines_most = lines_most(state),
            .straight = !(state->chosen & (CHOSEN_BRANCH | CHOSEN_OPCODE)),
            .ends = ends_of(code->co_flags),
        };

        result =
            Code_new(Registry_next_id(registry), &source,
                     &state->engine.opcodes, threshold, state->engine.two_arms);
        Py_DECREF(bytecode);
    }
    if (result && state->precise &&
        Code_make_precise(result, &state->engine.opcodes, threshold) < 0) {
        Code_free(result);
        result = NULL;
    }
    if (result && state->shows_instructions)
        Code_show_instructions(result);
    if (result &&
        PyUnstable_Code_SetExtra((PyObject *)code, state->extra, result) < 0) {
        Code_free(result);
        result = NULL;
    }
    PyErr_Clear();
    return result;
}

// Returns true if the code uses the name `setprofile`. The CALL event must not
// be set on such code. With the event, setprofile's new profile function would
// see that the call of setprofile ends, but not that it begins. profile.Profile
// fails if a call ends without a beginning.
static bool sets_profile(const PyCodeObject *code)
{
    Py_ssize_t i;

    for (i = 0; i < PyTuple_GET_SIZE(code->co_names); i++) {
        PyObject *name = PyTuple_GET_ITEM(code->co_names, i);

        if (PyUnicode_CompareWithASCIIString(name, "setprofile") == 0 ||
            PyUnicode_CompareWithASCIIString(name, "_setprofileallthreads") ==
                0)
            return true;
    }
    return false;
}

// Returns the events of accepted code. A function whose lines are not counted
// gets no LINE event, because even a disabled LINE event is slow at a line far
// behind the function's first line.
static PyObject *events_of(struct State *state, PyCodeObject *code, bool jumps)
{
    const struct Code *found = Adopt_find(state, (PyObject *)code);
    bool lines = jumps && found && found->who.lines;

    return state->local_events[jumps + lines][!sets_profile(code)];
}

// Arms the sites of a code object. The events are cleared first, because
// setting the same mask again does nothing. On 3.12 and 3.13, sites that an
// earlier holder of the tool id has disabled would then stay disabled. If
// `calls` is false, the CALL event is usually not cleared, so that disabled
// sites of CALL stay disabled.
static int arm(struct State *state, PyCodeObject *code, bool jumps, bool calls)
{
    state->armed.codes++;
    state->armed.units += (uint64_t)Py_SIZE(code);
    if (Tools_set_local(state, code,
                        calls || sets_profile(code) ? state->no_events
                                                    : state->call_event) < 0)
        return -1;
    return Tools_set_local(state, code, events_of(state, code, jumps));
}

// Returns true if disabled sites of CALL are to be armed, too. This is so in a
// window in which the code's calls of C functions are counted. It is also so
// for code that has called no C function yet, because it may call one later.
static bool renews_calls(const struct State *state, const struct Code *code)
{
    return state->sees_c && (!CCalls_of(code) || CCalls_is_open(code));
}

// Returns true if all code is armed with its jumps and branches, which is the
// case without a budget. If a budget is set, jumps and branches are armed only
// on request (rearm_executor.c), because they are two thirds of a service's
// events and few users read them.
static bool arms_jumps(const struct State *state)
{
    return isnan(atomic_load_explicit(&state->engine.session->budget,
                                      memory_order_relaxed));
}

// Returns true for the first Python function of every thread that the program
// starts. While the calls of Thread._bootstrap are counted, even the shortest
// thread can be sampled (Sampler_begin_thread).
static bool begins_threads(const PyCodeObject *code, const char *name)
{
    return strcmp(name, "Thread._bootstrap") == 0 &&
           Adopt_is_in(code, "/threading.py");
}

static bool arms_new(const struct State *state)
{
    return atomic_load_explicit(&state->engine.session->arm_new,
                                memory_order_relaxed);
}

// Begins a span in which the calls are counted, or marks the code as unarmed.
static void begin_span(const struct State *state, struct Code *code, bool armed)
{
    uint64_t now = Clock_read(&state->engine.clock);

    code->cold.renewed = now;
    if (armed) {
        Spans_open(code, now);
        return;
    }
    Spans_begin_dark(code, now);
    Code_leave_unarmed(code);
}

// Classifies a code object. `seen` is true if the code was called once before,
// and its classification was put off.
static bool classify(struct State *state, PyCodeObject *code, bool seen)
{
    const struct Session *session = state->engine.session;
    uint64_t hits = Adopt_hits(state);
    struct Code *result = NULL;
    PyObject *keep_file, *keep_name;
    const char *file, *name;
    bool garbage = (PyObject *)code == state->garbage.code;
    bool c_function = code->co_filename == state->c_file;
    bool accepted, stays;

    file = Adopt_text(code->co_filename, &keep_file);
    name = Adopt_text(code->co_qualname, &keep_name);
    stays = garbage || c_function || begins_threads(code, name);
    if (garbage || c_function ||
        (!is_ours(state, file) && Filter_accepts(&state->filter, file, name)))
        result = make_code(state, code, file, name, stays ? 0 : hits);
    if (result) {
        Code_arm(result, stays ? 0 : hits, arms_jumps(state));
        result->cold.begins_tasks =
            session->config.timeline && Adopt_runs_handles(code);
        Counter_set(&result->hot.entries, seen);
        result->cold.early =
            seen || (state->tasks_ran && code->co_flags & CO_COROUTINE);
        result->who.garbage = garbage;
        result->who.c_function = c_function;
        if (c_function)
            CCalls_prepare(result);
        if (c_function && !state->counts_c) {
            // Calls of C functions are counted only in windows (c_calls.h).
            result->hot.calls_exact = result->hot.exact = false;
            result->spans.arming = ARMED_SLICES;
        }
        if (result->cold.begins_tasks)
            state->engine.counting.ring.task_code = (uintptr_t)code;
        // The program's own code is always armed, because users want to see it.
        begin_span(state, result, arms_new(state) || stays || result->who.own);
        Engine_add(&state->engine, result);
    }
    accepted = result;
    Py_XDECREF(keep_file);
    Py_XDECREF(keep_name);
    // Arming fails for some objects that look like code (Cython's), because
    // they have no instruction to instrument.
    if (accepted && !c_function && !result->cold.unarmed &&
        arm(state, code, result->cold.jumps, true) < 0) {
        PyErr_Clear();
        accepted = false;
    }
    if (!accepted)
        // Marks the code as rejected. If memory is out, the code has no mark
        // and is classified again later.
        Extra_set_other(state, code);
    return accepted;
}

bool Adopt_classify(struct State *state, PyCodeObject *code)
{
    void *extra = Extra_of(state, code);

    if (extra && !Extra_is_mark(extra))
        return false;
    return classify(state, code, (uintptr_t)extra == state->seen);
}

void Adopt_begin(struct State *state)
{
    state->seen = (state->seen + EXTRA_SEEN + 1) | EXTRA_SEEN;
    state->seen_once = 0;
}

bool Adopt_put_off(struct State *state, PyCodeObject *code)
{
    const void *extra = Extra_of(state, code);
    void *mark = (void *)state->seen;

    if ((extra && !Extra_is_mark(extra)) || extra == mark || arms_new(state))
        return false;
    if (PyUnstable_Code_SetExtra((PyObject *)code, state->extra, mark)) {
        PyErr_Clear();
        return false;
    }
    state->seen_once++;
    return true;
}

// If there is no budget, opens a window in which the calls of C functions are
// counted. If there is a budget, slices open the windows.
static void open_window(struct State *state, struct Code *code)
{
    struct Counting *counting = &state->engine.counting;

    if (!state->sees_c || !arms_jumps(state))
        return;
    Counting_begin(counting);
    CCalls_open(code, Clock_read(&state->engine.clock), C_CALLS_AGAIN);
    Counting_end(counting);
}

int Adopt_rearm(struct State *state, struct Code *code, uint64_t hits,
                bool jumps)
{
    PyCodeObject *object = (PyCodeObject *)code->who.address;
    int result = 0;

    if (code->who.c_function)
        return 0;
    Py_INCREF(object);
    open_window(state, code);
    jumps = jumps || arms_jumps(state);
    if (arm(state, object, jumps, renews_calls(state, code)) < 0)
        result = -1;
    else
        Engine_rearm(&state->engine, code, hits, jumps);
    PyErr_Clear();
    Py_DECREF(object);
    return result;
}

void Adopt_renew_calls(struct State *state, struct Code *code)
{
    PyCodeObject *object = (PyCodeObject *)code->who.address;
    unsigned kind = code->cold.jumps + (code->cold.jumps && code->who.lines);

    Py_INCREF(object);
    if (!sets_profile(object) &&
        Tools_set_local(state, object, state->local_events[kind][0]) == 0)
        Tools_set_local(state, object, state->local_events[kind][1]);
    PyErr_Clear();
    Py_DECREF(object);
}

struct Code *Adopt_probe(struct State *state, PyCodeObject *code)
{
    struct Code *result = make_code(state, code, "<ocular>", "probe", 0);

    if (!result) {
        PyErr_NoMemory();
        return NULL;
    }
    result->hot.probe = true;
    Code_arm_lines(result, 0);
    Registry_chain(state->engine.registry, result);
    return result;
}

// --- All known code objects --------------------------------------------------

// Returns a list of all accepted code objects, and of the rejected ones if
// `other` is true. The references of the list keep the code objects alive while
// the caller visits them. Returns NULL with an exception if memory is out.
static PyObject *known(const struct State *state, bool other)
{
    PyObject *list = PyList_New(0);
    const struct OtherCode *o;
    const struct Code *c;

    if (!list)
        return NULL;
    for (c = Registry_first(state->engine.registry); c; c = Registry_next(c))
        if (PyList_Append(list, (PyObject *)c->who.address) < 0)
            goto fail;
    for (o = other ? state->others : NULL; o; o = o->next)
        if (PyList_Append(list, (PyObject *)o->code) < 0)
            goto fail;
    return list;
fail:
    Py_DECREF(list);
    return NULL;
}

// Clears the extra of a code object. CPython then calls extra_freed with the
// old extra.
static void clear_extra(const struct State *state, PyCodeObject *code)
{
    PyUnstable_Code_SetExtra((PyObject *)code, state->extra, NULL);
}

// Calls `visit` for every accepted code object, and also for the rejected ones
// if `other` is true. Returns 0, or -1 with an exception if memory is out.
static int visit_known(struct State *state, bool other,
                       void (*visit)(struct State *state, PyCodeObject *code))
{
    PyObject *list = known(state, other);
    Py_ssize_t i;

    if (!list)
        return -1;
    for (i = 0; i < PyList_GET_SIZE(list); i++)
        visit(state, (PyCodeObject *)PyList_GET_ITEM(list, i));
    Py_DECREF(list);
    return 0;
}

static void classify_anew(struct State *state, PyCodeObject *code)
{
    clear_extra(state, code);
    Adopt_classify(state, code);
}

static void disarm(struct State *state, PyCodeObject *code)
{
    uint8_t *steps = Extra_steps(state, code);

    if (steps && *steps) {
        Tools_set_steps(state, code, false);
        *steps = 0;
    }
    if (!Adopt_find(state, (PyObject *)code))
        return;
    if (Tools_set_local(state, code, state->no_events) < 0)
        PyErr_Clear();
}

static void drop(struct State *state, PyCodeObject *code)
{
    clear_extra(state, code);
    Extra_set_other(state, code);
}

int Adopt_again(struct State *state)
{
    return visit_known(state, true, classify_anew);
}

int Adopt_disarm(struct State *state)
{
    return visit_known(state, true, disarm);
}

int Adopt_drop_all(struct State *state)
{
    return visit_known(state, false, drop);
}

static void note_running(struct State *state, PyCodeObject *code)
{
    struct Code *found = Adopt_find(state, (PyObject *)code);

    if (found)
        atomic_store_explicit(&found->cold.early, true, memory_order_relaxed);
}

// Classifies the code of a frame and of all its callers.
static void classify_stack(struct State *state, PyFrameObject *frame)
{
    Py_INCREF(frame);
    while (frame) {
        PyFrameObject *back = PyFrame_GetBack(frame);
        PyCodeObject *code = PyFrame_GetCode(frame);

        Adopt_classify(state, code);
        note_running(state, code);
        Py_DECREF(code);
        Py_DECREF(frame);
        frame = back;
    }
}

struct Code *Adopt_suspended(struct State *state, PyCodeObject *code)
{
    struct Code *found = Adopt_find(state, (PyObject *)code);
    PyObject *keep;

    if (found)
        return found;
    if (OwnFile_is(Adopt_text(code->co_filename, &keep)) &&
        Adopt_classify(state, code))
        note_running(state, code);
    Py_XDECREF(keep);
    return Adopt_find(state, (PyObject *)code);
}

// Each call of Adopt_running_put_off examines this number of threads.
#define PUT_OFF_THREADS 8
#define PUT_OFF_FRAMES 64 // Number of frames of each thread that are examined.

static void classify_put_off(struct State *state, const PyThreadState *thread)
{
    PyCodeObject *codes[PUT_OFF_FRAMES];
    size_t count = FrameStack_codes(thread, codes, PUT_OFF_FRAMES);

    for (size_t i = 0; i < count; i++)
        if (PyCode_Check(codes[i]) &&
            (uintptr_t)Extra_of(state, codes[i]) == state->seen) {
            classify(state, codes[i], true);
            note_running(state, codes[i]);
        }
}

void Adopt_running_put_off(struct State *state)
{
    PyThreadState *thread =
        PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    uint64_t next = state->put_off_next, number = 0;

    if (!state->seen_once)
        return;
    for (; thread; thread = PyThreadState_Next(thread), number++)
        if (number >= next && number < next + PUT_OFF_THREADS)
            classify_put_off(state, thread);
    next += PUT_OFF_THREADS;
    state->put_off_next = next < number ? next : 0;
}

int Adopt_running(struct State *state)
{
    PyObject *current = PySys_GetObject("_current_frames"); // borrowed
    PyObject *frames, *frame;
    Py_ssize_t position = 0;

    if (!current) {
        PyErr_SetString(PyExc_RuntimeError, "sys._current_frames is missing");
        return -1;
    }
    frames = PyObject_CallNoArgs(current);
    if (!frames)
        return -1;
    while (PyDict_Next(frames, &position, NULL, &frame))
        classify_stack(state, (PyFrameObject *)frame);
    Py_DECREF(frames);
    return 0;
}
