// SPDX-License-Identifier: MIT
// The governor's thread. It holds the interpreter for about 50 us at a time
// and waits for none of our other threads meanwhile.
#include "python/governor.h"
#include "python/adopt.h"
#include "python/poll.h"
#include "python/thread_name.h"
#include "python/tools.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Of two full slices; the lock is given up to 5 ms later (the interpreter's
// switch interval), or more where many threads want it.
#define PERIOD_MS 200
#define HURRY_MS 5 // to the next look at bytecode, where those are behind
#define RANK_S 1.0 // between two rankings of the functions
#define SLICE_S 50e-6
#define STACK_BYTES (512u << 10) // the interpreter runs on it
#define HZ_CHANGE 0.05 // of the sampler's rate: less is not worth a wake-up

struct Governor {
    struct State *state;
    PyInterpreterState *interpreter;
    PyThreadState *thread_state;
    struct Worker worker;
    pthread_mutex_t mutex; // guards stop
    pthread_cond_t wake;
    bool stop;
    struct Hottest hottest; // as ranked last
    double hz;              // the sampler's rate, as set last
    uint64_t due;           // ticks of the next full slice
};

// --- Thread states ---------------------------------------------------------

// Not one of ours, and not half made.
static bool is_programs(const struct State *state, const PyThreadState *thread)
{
    const struct Governor *governor = state->governor;

    return thread->native_thread_id != 0 &&
           thread != state->heir.thread_state &&
           thread != state->doorman.thread_state &&
           (!governor || thread != governor->thread_state);
}

size_t Governor_count_threads(const struct State *state)
{
    PyThreadState *thread =
        PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    size_t count = 0;

    for (; thread; thread = PyThreadState_Next(thread))
        count += is_programs(state, thread);
    return count;
}

void Governor_list_threads(struct State *state)
{
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    struct Sampler *sampler = state->engine.session->sampler;
    size_t room = Governor_count_threads(state), count = 0;
    struct SampledThread *threads = calloc(room + 1, sizeof *threads);
    PyThreadState *thread = PyInterpreterState_ThreadHead(interpreter);

    for (; threads && thread && count < room;
         thread = PyThreadState_Next(thread)) {
        if (!is_programs(state, thread))
            continue;
        threads[count].state = (uintptr_t)thread;
        threads[count].tid = (pid_t)thread->native_thread_id;
        ThreadName_get(thread, threads[count].name, sizeof threads[count].name);
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

// --- Re-arming -------------------------------------------------------------

static void rearm(struct State *state, struct Code *code)
{
    Adopt_rearm(state, code, state->engine.session->config.threshold);
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

static uint64_t ticks_of(const struct Governor *governor, double s)
{
    return (uint64_t)(s * Clock_hz(&governor->state->engine.clock));
}

// The functions to look at most often; without the interpreter's lock.
static void rank(struct Governor *governor)
{
    struct Engine *engine = &governor->state->engine;
    struct Sampler *sampler = engine->session->sampler;
    uint64_t now = Clock_read(&engine->clock);

    if (now - governor->hottest.ticks >= ticks_of(governor, RANK_S))
        Hottest_rank(&governor->hottest, engine->registry, now,
                     sampler ? Sampler_now(sampler) : NAN);
}

// What the budget says now; without the interpreter's lock.
static void control(struct Governor *governor)
{
    struct Session *session = governor->state->engine.session;
    const struct Budget *budget = Account_open(session);
    bool held = budget->share > 0;
    double hz = held ? Budget_hz(budget) : 0;

    Account_close(session);
    if (!held || !session->sampler ||
        fabs(hz - governor->hz) <= HZ_CHANGE * governor->hz)
        return;
    governor->hz = hz;
    Sampler_set_hz(session->sampler, hz);
}

static void note_edges(struct State *state, uint64_t deadline)
{
    struct Sampler *sampler = state->engine.session->sampler;
    struct Edge edge;

    while (sampler && Clock_read(&state->engine.clock) < deadline &&
           Sampler_take_edge(sampler, &edge))
        Engine_note_edge(&state->engine, &edge);
}

// A full slice, or one that only goes on with the round of live bytecode. true:
// that is behind.
static bool slice(struct Governor *governor, bool full)
{
    struct State *state = governor->state;
    uint64_t deadline =
        Clock_read(&state->engine.clock) + ticks_of(governor, SLICE_S);
    bool behind;

    if (state->phase != PHASE_TRACING)
        return false;
    if (!full)
        return Poll_slice(state, false, deadline);
    Tools_watch(state);
    note_edges(state, deadline);
    state->poll.hottest = governor->hottest;
    rearm_wanted(state, deadline);
    behind = Poll_slice(state, true, deadline);
    Governor_list_threads(state);
    return behind;
}

static void account(struct Governor *governor)
{
    Cell_set(&governor->state->engine.session->governor_ns,
             Worker_cpu_ns(&governor->worker));
}

// false: it is time to end.
static bool wait_ms(struct Governor *governor, long ms)
{
    struct timespec due;
    bool stop;

    clock_gettime(CLOCK_MONOTONIC, &due);
    due.tv_nsec += ms * 1000000L;
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

static long ms_until_due(const struct Governor *governor)
{
    struct Clock *clock = &governor->state->engine.clock;
    double s =
        (double)(int64_t)(governor->due - Clock_read(clock)) / Clock_hz(clock);

    return s < 1e-3 ? 1 : s * 1e3 > PERIOD_MS ? PERIOD_MS : (long)(s * 1e3) + 1;
}

// Is the next slice a full one? Then it ranks the functions for it.
static bool prepare(struct Governor *governor)
{
    uint64_t now = Clock_read(&governor->state->engine.clock);

    if (now < governor->due)
        return false;
    governor->due = now + ticks_of(governor, PERIOD_MS / 1e3);
    rank(governor);
    return true;
}

static void run(void *context)
{
    struct Governor *governor = context;
    PyThreadState *state = governor->thread_state;
    long pause = PERIOD_MS;

    PyEval_RestoreThread(state);
    // A thread state takes the ids of the thread that makes it.
    state->thread_id = PyThread_get_thread_ident();
    state->native_thread_id = PyThread_get_thread_native_id();
    PyEval_SaveThread();
    governor->due = Clock_read(&governor->state->engine.clock) +
                    ticks_of(governor, PERIOD_MS / 1e3);
    while (wait_ms(governor, pause)) {
        bool full = prepare(governor), behind;

        if (full)
            control(governor);
        PyEval_RestoreThread(state);
        behind = slice(governor, full);
        account(governor);
        PyEval_SaveThread();
        pause = ms_until_due(governor);
        if (behind && pause > HURRY_MS)
            pause = HURRY_MS;
    }
    PyEval_RestoreThread(state);
    PyThreadState_Clear(state);
    PyThreadState_DeleteCurrent();
}

int Governor_resume(struct State *state)
{
    struct Governor *governor = state->governor;
    int error;

    if (governor->worker.started)
        return 0;
    // Made here, with the lock: memory that Python hands out without it goes
    // through tracemalloc, which crashes if it is stopped meanwhile (gh-128679,
    // up to 3.13.1).
    governor->thread_state = PyThreadState_New(governor->interpreter);
    if (!governor->thread_state)
        return -ENOMEM;
    governor->stop = false;
    error = Worker_start(&governor->worker, "ocular-governor", run, governor,
                         STACK_BYTES);
    if (error) {
        PyThreadState_Clear(governor->thread_state);
        PyThreadState_Delete(governor->thread_state);
        governor->thread_state = NULL;
    }
    return error;
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
    governor->interpreter = PyInterpreterState_Get();
    pthread_mutex_init(&governor->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&governor->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    state->governor = governor;
    error = Governor_resume(state);
    if (error == 0)
        return 0;
    state->governor = NULL;
    free(governor);
    PyErr_Format(PyExc_RuntimeError, "the governor cannot start: %s",
                 strerror(-error));
    return -1;
}

static void end_thread(struct Governor *governor)
{
    pthread_mutex_lock(&governor->mutex);
    governor->stop = true;
    pthread_cond_signal(&governor->wake);
    pthread_mutex_unlock(&governor->mutex);
    Py_BEGIN_ALLOW_THREADS;
    Worker_join(&governor->worker);
    Py_END_ALLOW_THREADS;
    governor->thread_state = NULL; // ended with its thread
}

void Governor_pause(struct State *state)
{
    end_thread(state->governor);
}

void Governor_stop(struct State *state)
{
    struct Governor *governor = state->governor;

    if (!governor)
        return;
    end_thread(governor);
    state->governor = NULL;
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
