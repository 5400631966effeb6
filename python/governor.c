// SPDX-License-Identifier: MIT
// The governor's thread. It holds the interpreter for about 50 us at a time
// and waits for none of our other threads meanwhile.
#include "python/governor.h"
#include "python/adopt.h"
#include "python/tools.h"
#include "tracer/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define PERIOD_MS 250
#define SLICE_S 50e-6
#define STACK_BYTES (512u << 10) // the interpreter runs on it

struct Governor {
    struct State *state;
    PyThreadState *thread_state;
    pthread_t thread;
    pthread_mutex_t mutex; // guards stop
    pthread_cond_t wake;
    bool stop;
};

// --- Thread states ---------------------------------------------------------

// The name threading knows a thread by, or nothing. No Python code runs.
static void name_thread(PyObject *active, const PyThreadState *thread,
                        char *out, size_t size)
{
    PyObject *ident, *object, *name;
    const char *text = NULL;

    out[0] = '\0';
    ident = active ? PyLong_FromUnsignedLong(thread->thread_id) : NULL;
    object = ident ? PyDict_GetItemWithError(active, ident) : NULL;
    name = object ? PyObject_GetAttrString(object, "_name") : NULL;
    if (name && PyUnicode_Check(name))
        text = PyUnicode_AsUTF8(name);
    if (text)
        snprintf(out, size, "%s", text);
    Py_XDECREF(name);
    Py_XDECREF(ident);
    PyErr_Clear();
}

// threading._active, if the program has imported threading. Borrowed.
static PyObject *active_threads(void)
{
    PyObject *modules = PySys_GetObject("modules");
    PyObject *threading =
        modules ? PyDict_GetItemString(modules, "threading") : NULL;
    PyObject *active =
        threading && PyModule_Check(threading)
            ? PyDict_GetItemString(PyModule_GetDict(threading), "_active")
            : NULL;

    return active && PyDict_Check(active) ? active : NULL;
}

static size_t count_threads(PyInterpreterState *interpreter)
{
    PyThreadState *thread = PyInterpreterState_ThreadHead(interpreter);
    size_t count = 0;

    for (; thread; thread = PyThreadState_Next(thread))
        count++;
    return count;
}

void Governor_list_threads(struct State *state)
{
    const PyThreadState *own =
        state->governor ? state->governor->thread_state : NULL;
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    struct Sampler *sampler = state->engine.session->sampler;
    size_t room = count_threads(interpreter), count = 0;
    struct SampledThread *threads = calloc(room + 1, sizeof *threads);
    PyThreadState *thread = PyInterpreterState_ThreadHead(interpreter);
    PyObject *active = active_threads();

    for (; threads && thread && count < room;
         thread = PyThreadState_Next(thread)) {
        if (thread == own)
            continue;
        threads[count].state = (uintptr_t)thread;
        threads[count].tid = (pid_t)thread->native_thread_id;
        name_thread(active, thread, threads[count].name,
                    sizeof threads[count].name);
        count++;
    }
    // Where several threads share the interpreter, a span much longer than
    // the switch interval cannot have been run without a break.
    state->engine.contention.long_span =
        count > 1
            ? (int64_t)(state->switch_interval * Clock_hz(&state->engine.clock))
            : INT64_MAX;
    if (threads && sampler)
        Sampler_set_threads(sampler, threads, count);
    free(threads);
}

// --- Live bytecode ---------------------------------------------------------

// Goes on where the last slice ended, once round all code objects at most.
static void look(struct State *state, uint64_t deadline)
{
    struct Registry *registry = state->engine.registry;
    struct Code *first = NULL, *code;

    while (Clock_read(&state->engine.clock) < deadline) {
        code = state->look_next ? state->look_next : Registry_first(registry);
        if (!code || code == first)
            return;
        if (!first)
            first = code;
        Code_look(
            code,
            (const uint8_t *)((PyCodeObject *)code->address)->co_code_adaptive,
            &state->engine.opcodes);
        state->look_next = Registry_next(code);
    }
}

// --- Re-arming -------------------------------------------------------------

static void rearm(struct State *state, struct Code *code)
{
    PyCodeObject *object = (PyCodeObject *)code->address;

    Py_INCREF(object);
    // The same mask would do nothing: it has to pass through another one.
    if (Tools_set_local(state, object, state->no_events) == 0 &&
        Tools_set_local(state, object, state->local_events) == 0)
        Engine_rearm(&state->engine, code,
                     state->engine.session->config.threshold);
    PyErr_Clear();
    Py_DECREF(object);
}

// Every dark or partly dark function, a slice at a time.
static void rearm_all(struct State *state, uint64_t deadline)
{
    while (state->rearm_next && Clock_read(&state->engine.clock) < deadline) {
        struct Code *code = state->rearm_next;

        state->rearm_next = Registry_next(code);
        if (!code->exact)
            rearm(state, code);
    }
}

static void rearm_wanted(struct State *state, uint64_t deadline)
{
    struct Session *session = state->engine.session;
    uint32_t id;

    while (Clock_read(&state->engine.clock) < deadline &&
           Rearm_pop(&session->rearm, &id)) {
        struct Code *code = Registry_by_id(state->engine.registry, id);

        // A round that is under way goes on: begun anew by each request, it
        // might never come to its end.
        if (id == 0 && !state->rearm_next)
            state->rearm_next = Registry_first(state->engine.registry);
        else if (code)
            rearm(state, code);
    }
    rearm_all(state, deadline);
}

// --- The thread ------------------------------------------------------------

static void slice(struct State *state)
{
    struct Clock *clock = &state->engine.clock;
    uint64_t deadline =
        Clock_read(clock) + (uint64_t)(SLICE_S * Clock_hz(clock));

    if (state->phase != PHASE_TRACING)
        return;
    rearm_wanted(state, deadline);
    look(state, deadline);
    Governor_list_threads(state);
}

static void account(struct State *state)
{
    struct timespec used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    Cell_set(&state->engine.session->governor_ns,
             (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec);
}

// Waits one period. false: it is time to end.
static bool wait_period(struct Governor *governor)
{
    struct timespec due;
    bool stop;

    clock_gettime(CLOCK_MONOTONIC, &due);
    due.tv_nsec += PERIOD_MS * 1000000L;
    if (due.tv_nsec >= 1000000000L) {
        due.tv_nsec -= 1000000000L;
        due.tv_sec++;
    }
    pthread_mutex_lock(&governor->mutex);
    while (!governor->stop &&
           pthread_cond_timedwait(&governor->wake, &governor->mutex, &due) == 0)
        ;
    stop = governor->stop;
    pthread_mutex_unlock(&governor->mutex);
    return !stop;
}

static void *run(void *context)
{
    struct Governor *governor = context;

    prctl(PR_SET_NAME, "ocular-governor");
    while (wait_period(governor)) {
        PyEval_RestoreThread(governor->thread_state);
        slice(governor->state);
        account(governor->state);
        PyEval_SaveThread();
    }
    PyEval_RestoreThread(governor->thread_state);
    PyThreadState_Clear(governor->thread_state);
    PyThreadState_DeleteCurrent();
    return NULL;
}

int Governor_start(struct State *state)
{
    struct Governor *governor = calloc(1, sizeof *governor);
    pthread_condattr_t monotonic;
    int error;

    if (!governor) {
        PyErr_NoMemory();
        return -1;
    }
    governor->state = state;
    pthread_mutex_init(&governor->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&governor->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    governor->thread_state = PyThreadState_New(PyInterpreterState_Get());
    error = governor->thread_state
                ? Thread_start(&governor->thread, run, governor, STACK_BYTES)
                : -ENOMEM;
    if (error == 0) {
        state->governor = governor;
        return 0;
    }
    if (governor->thread_state) {
        PyThreadState_Clear(governor->thread_state);
        PyThreadState_Delete(governor->thread_state);
    }
    free(governor);
    PyErr_Format(PyExc_RuntimeError, "the governor cannot start: %s",
                 strerror(-error));
    return -1;
}

void Governor_stop(struct State *state)
{
    struct Governor *governor = state->governor;

    if (!governor)
        return;
    state->governor = NULL;
    pthread_mutex_lock(&governor->mutex);
    governor->stop = true;
    pthread_cond_signal(&governor->wake);
    pthread_mutex_unlock(&governor->mutex);
    Py_BEGIN_ALLOW_THREADS;
    pthread_join(governor->thread, NULL);
    Py_END_ALLOW_THREADS;
    pthread_mutex_destroy(&governor->mutex);
    pthread_cond_destroy(&governor->wake);
    free(governor);
}

void Governor_abandon(struct State *state)
{
    // CPython frees the thread states of the other threads after fork.
    free(state->governor);
    state->governor = NULL;
}
