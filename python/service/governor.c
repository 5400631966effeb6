// SPDX-License-Identifier: MIT
// The governor's thread carries out the decisions of tracer/budget/control.c.
// The thread holds the GIL for about 50 us at a time, and does not wait for
// Ocular's other threads in this time.
#include "python/service/governor.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "python/hooks/adopt.h"
#include "python/hooks/garbage_watch.h"
#include "python/hooks/loop_steps.h"
#include "python/hooks/object_watch.h"
#include "python/hooks/raise_watch.h"
#include "python/hooks/task_watch.h"
#include "python/hooks/tools.h"
#include "python/service/missed_signals.h"
#include "python/service/operand_writer.h"
#include "python/service/poll.h"
#include "python/service/rearm_executor.h"
#include "python/service/strict.h"
#include "python/service/task_walk.h"
#include "python/service/worker_state.h"
#include "tracer/base/rcu.h"
#include "tracer/base/tsc_guard.h"
#include "tracer/budget/control.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

// A hold is the time for which the governor has the GIL. A hold ends after
// HOLD_S seconds, or later if functions are armed. Before a hold the governor
// waits for the GIL up to 5 ms (the switch interval), or longer if many threads
// wait.
#define HOLD_S 100e-6
// After a slice, hooks at the ends of the program's own functions stay while
// calls of the slice are in flight. These hooks may take ENDS_PART of the time
// that all hooks may take.
#define ENDS_PART 0.2
// Counting births and deaths of objects may take OBJECTS_PART of the allowed
// cost, or OBJECTS_DEBT_PART while the budget is overdrawn.
#define OBJECTS_PART 0.3
#define OBJECTS_DEBT_PART 0.05
// A call is tagged among this number of innermost frames of a thread.
#define TAG_MOST 8
#define STACK_BYTES (512u << 10) // Stack size that is enough for Python code.

struct Governor {
    struct Service *service;
    struct State *state; // This pointer is the same as service->state.
    PyInterpreterState *interpreter;
    pthread_mutex_t mutex; // Guards `stop`, `woken` and `wake_next_s`.
    pthread_cond_t wake;
    bool stop;
    // True if a viewer waits for operand text or for a function to be armed.
    bool woken;
    double wake_next_s; // Time of CLOCK_MONOTONIC for Control_may_wake.
    // Only the governor's thread uses this field and the fields after it.
    struct Control control;
    struct OperandWriter operands;
    struct Hottest hottest; // the newest ranking
    struct RearmExecutor executor;
    struct Holds holds;
    struct MissedSignals missed;
    struct PreemptionRate preemption;
    struct TaskWalk walk;
    uint8_t newest_tag; // See LongCalls. Used again after 254 other tags.
    double due_s;       // Time of CLOCK_MONOTONIC of the next decision.
    bool held;          // True if there was a budget at the newest hold.
    // True if other programs often took the CPU before the newest full hold.
    bool preempted;
};

static void wake_for_viewer(void *context)
{
    struct Governor *governor = context;

    pthread_mutex_lock(&governor->mutex);
    if (Control_may_wake(&governor->wake_next_s, Now_s(CLOCK_MONOTONIC))) {
        governor->woken = true;
        pthread_cond_signal(&governor->wake);
    }
    pthread_mutex_unlock(&governor->mutex);
}

// --- The thread ------------------------------------------------------------

// Ranks the functions and decides which to arm, without the GIL. Returns true
// if the governor needs the GIL now.
static bool rank(struct Governor *governor, double now_s)
{
    struct Engine *engine = &governor->state->engine;
    const struct Worker *worker = &engine->session->governor;
    struct Sampler *sampler = engine->session->sampler;
    struct ShareTime *sampled = &governor->executor.sampled;
    uint64_t begin_ns = Worker_cpu_ns(worker);
    bool wanted;

    *sampled = sampler && !Sampler_is_denied(sampler) ? Sampler_now(sampler)
                                                      : (struct ShareTime){0};
    Hottest_rank(&governor->hottest, engine->registry,
                 Clock_read(&engine->clock), sampled->clock ? sampled : NULL);
    wanted = RearmExecutor_decide(&governor->executor, now_s, true);
    Control_ranked(&governor->control, now_s,
                   (double)(Worker_cpu_ns(worker) - begin_ns) * 1e-9);
    return wanted;
}

static void note_edges(struct State *state, uint64_t deadline)
{
    struct Sampler *sampler = state->engine.session->sampler;
    struct CallEdge edge;

    while (sampler && Clock_read(&state->engine.clock) < deadline &&
           Sampler_take_edge(sampler, &edge))
        Engine_note_edge(&state->engine, &edge);
}

static bool can_be_tagged(const struct State *state, PyFrameObject *frame)
{
    PyCodeObject *object = PyFrame_GetCode(frame);
    const struct Code *code =
        Registry_find(state->engine.registry, (uintptr_t)object);

    Py_DECREF(object);
    return code && Code_can_be_tagged(code);
}

// Tags the innermost call of the thread that can be tagged (LongCalls).
static void tag_call(struct Governor *governor, PyThreadState *thread)
{
    PyFrameObject *frame = PyThreadState_GetFrame(thread);
    uint8_t *tag = &governor->newest_tag, *byte;

    for (int i = 1; frame && !can_be_tagged(governor->state, frame); i++) {
        PyFrameObject *caller = i < TAG_MOST ? PyFrame_GetBack(frame) : NULL;

        Py_DECREF(frame);
        frame = caller;
    }
    if (!frame) {
        PyErr_Clear(); // PyFrame_GetBack may have set MemoryError.
        return;
    }
    byte = (uint8_t *)frame + governor->state->engine.layout.object_tag;
    // If the byte is 0, a debugger has set it.
    if (*byte == 1)
        *byte = *tag = *tag < UINT8_MAX ? *tag + 1 : 2;
    Py_DECREF(frame);
}

// Tags calls in the threads in which the sampler wants a tag.
static void tag_calls(struct Governor *governor, uint64_t deadline)
{
    struct Engine *engine = &governor->state->engine;
    struct LongCalls *calls = &engine->session->long_calls;

    for (unsigned i = 0; i < LONG_CALLS && engine->layout.object_tag; i++) {
        pid_t tid =
            atomic_load_explicit(&calls->wanted[i], memory_order_relaxed);
        PyThreadState *thread;

        if (!tid || Clock_read(&engine->clock) > deadline)
            continue;
        thread = PyInterpreterState_ThreadHead(governor->interpreter);
        while (thread && (pid_t)thread->native_thread_id != tid)
            thread = PyThreadState_Next(thread);
        Rcu_read_lock();
        if (thread)
            tag_call(governor, thread);
        Rcu_read_unlock();
        Counter_set(&calls->tagged_ticks, Clock_read(&engine->clock));
        atomic_store_explicit(&calls->wanted[i], 0, memory_order_release);
    }
}

// Does the work that is due when a budget begins or ends.
static void note_budget(struct Governor *governor)
{
    struct Session *session = governor->state->engine.session;
    bool held = governor->control.held;

    if (held == governor->held)
        return;
    governor->held = held;
    governor->state->slice_next = NULL;
    Counting_set_between(&governor->state->engine.counting, false);
    // If a budget is set, the threshold limits the hits per second.
    atomic_store_explicit(&governor->state->engine.registry->hits,
                          Session_second_hits(session), memory_order_relaxed);
    if (held)
        RearmExecutor_begin(&governor->executor, Now_s(CLOCK_MONOTONIC));
}

static void update_costs(struct Governor *governor)
{
    const struct Engine *engine = &governor->state->engine;
    const int64_t *cost = engine->traces.cost;
    int64_t call = cost[HOOK_ENTER] + cost[HOOK_LEAVE] +
                   2 * Counting_hit_ticks(&engine->counting);

    governor->executor.call_s = (double)call *
                                Account_hook_factor(&engine->session->account) /
                                Clock_hz(&engine->clock);
    Counting_begin(&governor->state->engine.counting);
    Latency_allow(&engine->registry->latencies,
                  ENDS_PART * governor->control.hooks_rate /
                      (governor->executor.call_s / 2),
                  Clock_hz(&engine->clock));
    Counting_end(&governor->state->engine.counting);
}

// Does the work of a hold, the short time for which the governor has the GIL.
// If `full` is false, only continues work that an earlier hold began. Returns
// true if the governor has more work.
static bool hold(struct Governor *governor, bool full)
{
    struct State *state = governor->state;
    const struct Control *control = &governor->control;
    uint64_t deadline =
        Clock_read(&state->engine.clock) +
        (uint64_t)(RearmExecutor_hold_s(&governor->executor, HOLD_S) *
                   Clock_hz(&state->engine.clock));
    bool more, words;

    if (state->phase != PHASE_TRACING)
        return false;
    note_budget(governor);
    if (full) {
        update_costs(governor);
        Counting_set_preempted(&state->engine.counting, governor->preempted);
        Tools_watch(state);
        Tools_renew_unwinds(state, Now_s(CLOCK_MONOTONIC));
        LoopSteps_renew(state, Now_s(CLOCK_MONOTONIC), control->rate);
        TaskWatch_renew(state, false);
        GarbageWatch_check(state);
        RaiseWatch_look(state, control->rate);
        note_edges(state, deadline);
        Adopt_running_put_off(state);
        governor->service->poll.hottest = governor->hottest;
    }
    tag_calls(governor, deadline);
    RearmExecutor_requests(&governor->executor, deadline);
    words = OperandWriter_write(&governor->operands, &state->engine, deadline);
    more = RearmExecutor_step(&governor->executor, Now_s(CLOCK_MONOTONIC),
                              deadline);
    more |= state->slice_next != NULL;
    more |= Poll_slice(&governor->service->poll, state, full, deadline) &&
            Control_may_hurry(control);
    if (full) {
        const struct OurThreads ours = Service_threads(governor->service);

        RearmExecutor_step_own(&governor->executor, Now_s(CLOCK_MONOTONIC));
        ThreadList_update(&governor->service->thread_list, state, &ours);
    }
    return more || words;
}

// Waits `s` seconds or until the thread is woken. Returns false if the thread
// must end.
static bool wait_s(struct Governor *governor, double s, bool *woken)
{
    struct timespec due = Now_in_ms((uint64_t)ceil(s * 1e3));
    bool stop;

    pthread_mutex_lock(&governor->mutex);
    while (!governor->stop && !governor->woken &&
           pthread_cond_clockwait(&governor->wake, &governor->mutex,
                                  CLOCK_MONOTONIC, &due) == 0)
        ;
    stop = governor->stop;
    *woken = governor->woken;
    governor->woken = false;
    pthread_mutex_unlock(&governor->mutex);
    return !stop;
}

// Decides the next step without the GIL. Also sets the sampler's rate, and sets
// whether new code is armed.
static struct ControlDecision decide(struct Governor *governor, double now_s,
                                     bool woken)
{
    struct Session *session = governor->state->engine.session;
    struct ControlReading reading = {
        .newest_code = Registry_newest_id(session->engine->registry),
        .asked = woken,
    };
    bool opens =
        Control_needs_account(&governor->control, now_s, reading.newest_code) ||
        RearmExecutor_counts(&governor->executor);
    struct ControlDecision decision;

    if (opens) {
        Counting_catch_up(&session->engine->counting);
        reading.budget = Account_open(&session->account);
    }
    decision = Control_step(&governor->control, now_s, &reading);
    if (opens)
        Account_close(&session->account);
    atomic_store_explicit(&session->arm_new, decision.arm_new,
                          memory_order_relaxed);
    if (decision.sampler_hz > 0 && session->sampler)
        Sampler_set_hz(session->sampler, decision.sampler_hz);
    return decision;
}

struct Holds Governor_holds(const struct Service *service)
{
    return service->governor ? service->governor->holds : (struct Holds){0};
}

// Takes the GIL for one hold. Does nothing in seccomp's strict mode, because
// the kernel would kill the governor's thread when it releases the GIL. Returns
// true if work is left.
static bool attend(struct Governor *governor, bool full)
{
    const struct Worker *worker = &governor->state->engine.session->governor;
    struct Holds *holds = &governor->holds;
    uint64_t ns;
    bool more;

    if (Strict_is_found())
        return false;
    WorkerState_take(governor->service->governor_thread);
    ns = Worker_cpu_ns(worker);
    more = hold(governor, full);
    ns = Worker_cpu_ns(worker) - ns;
    holds->count++;
    holds->held_ns += ns;
    if (ns > holds->longest_ns)
        holds->longest_ns = ns;
    WorkerState_leave();
    return more;
}

// Does the governor's own work and returns the seconds until it is due again.
static double govern(struct Governor *governor, bool woken)
{
    double now_s = Now_s(CLOCK_MONOTONIC);
    struct ControlDecision decision = decide(governor, now_s, woken);
    bool more = false;

    MissedSignals_look(&governor->missed, now_s);
    decision.attend |=
        decision.rank ? rank(governor, now_s)
                      : RearmExecutor_decide(&governor->executor, now_s, false);
    // The kernel adds up the numbers of all threads, so the governor asks
    // without the GIL.
    if (decision.full)
        governor->preempted =
            PreemptionRate_is_high(&governor->preemption, now_s);
    if (decision.attend)
        more = attend(governor, decision.full);
    now_s = Now_s(CLOCK_MONOTONIC);
    return fmin(Control_pause(&governor->control, now_s, more),
                RearmExecutor_pause(&governor->executor, now_s));
}

// Takes the GIL, and reads some of the program's tasks (one slice of a walk).
static void read_tasks(struct Governor *governor)
{
    const struct Worker *worker = &governor->state->engine.session->governor;
    uint64_t ns = Worker_cpu_ns(worker);

    if (Strict_is_found())
        return;
    TaskWalk_prepare(&governor->walk, governor->state);
    WorkerState_take(governor->service->governor_thread);
    TaskWalk_step(&governor->walk, governor->state);
    WorkerState_leave();
    ns = Worker_cpu_ns(worker) - ns;
    TaskWalk_end_slice(&governor->walk, governor->state, (double)ns * 1e-9,
                       governor->control.overdrawn);
}

// Returns the seconds of CPU time per second that counting objects may take.
static double objects_rate(const struct Control *control)
{
    if (!control->held)
        return INFINITY;
    return (control->overdrawn ? OBJECTS_DEBT_PART : OBJECTS_PART) *
           control->rate;
}

// Takes the GIL, ends a window of objects and begins the next one.
static void count_objects(struct Governor *governor)
{
    struct State *state = governor->state;
    double begin_s = Now_s(CLOCK_MONOTONIC);

    if (Strict_is_found())
        return;
    WorkerState_take(governor->service->governor_thread);
    ObjectWatch_step(state, objects_rate(&governor->control),
                     Now_s(CLOCK_MONOTONIC) - begin_s);
    WorkerState_leave();
    ObjectWatch_publish(state);
}

// Does the work of one wake-up and returns the seconds until the next one.
static double wake_up(struct Governor *governor, bool woken)
{
    double now_s = Now_s(CLOCK_MONOTONIC);

    if (woken || now_s >= governor->due_s)
        governor->due_s = now_s + govern(governor, woken);
    if (TaskWalk_is_due(&governor->walk, governor->state, now_s))
        read_tasks(governor);
    if (ObjectWatch_is_due(governor->state, now_s))
        count_objects(governor);
    now_s = Now_s(CLOCK_MONOTONIC);
    return fmax(fmin(fmin(governor->due_s - now_s,
                          ObjectWatch_pause(governor->state, now_s)),
                     TaskWalk_pause(&governor->walk, governor->state, now_s)),
                0);
}

static void run(void *context)
{
    struct Governor *governor = context;
    PyThreadState *state = governor->service->governor_thread;
    double pause;
    bool woken;

    WorkerState_begin(state);
    WorkerState_leave();
    pause = Control_begin(&governor->control, Now_s(CLOCK_MONOTONIC));
    while (wait_s(governor, pause, &woken) && !TscGuard_has_tripped())
        pause = wake_up(governor, woken);
    if (Strict_is_found())
        return;
    WorkerState_take(state);
    TaskWalk_stop(&governor->walk);
    WorkerState_end(state);
}

int Governor_resume(struct Service *service)
{
    struct Governor *governor = service->governor;
    struct Worker *worker = &service->state->engine.session->governor;
    int error;

    if (!governor || worker->started)
        return 0;
    // The calling thread makes the thread state here, with the GIL held.
    // Without the GIL the allocation may call tracemalloc. Up to 3.13.1
    // tracemalloc crashes if another thread stops it during the allocation
    // (gh-128679).
    governor->service->governor_thread =
        PyThreadState_New(governor->interpreter);
    if (!governor->service->governor_thread)
        return -ENOMEM;
    governor->stop = false;
    worker->prepare = Rcu_register;
    error = Worker_start(worker, "ocular-governor", run, governor, STACK_BYTES);
    if (error) {
        PyThreadState_Clear(governor->service->governor_thread);
        PyThreadState_Delete(governor->service->governor_thread);
        governor->service->governor_thread = NULL;
    }
    return error;
}

int Governor_start(struct Service *service)
{
    struct Governor *governor = Heap_zeroed(1, sizeof *governor);
    const struct Engine *engine = &service->state->engine;
    int error;

    if (!governor) {
        PyErr_NoMemory();
        return -1;
    }
    governor->service = service;
    governor->state = service->state;
    governor->executor.state = service->state;
    governor->executor.control = &governor->control;
    governor->interpreter = PyInterpreterState_Get();
    Control_init(&governor->control);
    governor->executor.hottest = &governor->hottest;
    MissedSignals_init(&governor->missed);
    update_costs(governor);
    pthread_mutex_init(&governor->mutex, NULL);
    pthread_cond_init(&governor->wake, NULL);
    service->governor = governor;
    error = Governor_resume(service);
    if (error == 0) {
        Waker_set(&engine->session->governor_waker, wake_for_viewer, governor);
        return 0;
    }
    service->governor = NULL;
    Heap_free(governor);
    PyErr_Format(PyExc_RuntimeError, "the governor cannot start: %s",
                 strerror(-error));
    return -1;
}

static void end_thread(struct Governor *governor)
{
    struct Worker *worker = &governor->state->engine.session->governor;

    pthread_mutex_lock(&governor->mutex);
    governor->stop = true;
    pthread_cond_signal(&governor->wake);
    pthread_mutex_unlock(&governor->mutex);
    Py_BEGIN_ALLOW_THREADS;
    Worker_join(worker);
    Py_END_ALLOW_THREADS;
    // The ended thread has deleted its thread state.
    governor->service->governor_thread = NULL;
}

void Governor_pause(struct Service *service)
{
    // The governor is NULL if a finalizer forks while a session starts.
    if (service->governor)
        end_thread(service->governor);
}

void Governor_stop(struct Service *service)
{
    struct Governor *governor = service->governor;

    if (!governor)
        return;
    Waker_set(&service->state->engine.session->governor_waker, NULL, NULL);
    end_thread(governor);
    service->governor = NULL;
    pthread_mutex_destroy(&governor->mutex);
    pthread_cond_destroy(&governor->wake);
    RearmExecutor_release(&governor->executor);
    OperandWriter_release(&governor->operands);
    TaskWalk_release(&governor->walk);
    Heap_free(governor);
}

void Governor_abandon(struct Service *service)
{
    if (service->governor) {
        RearmExecutor_release(&service->governor->executor);
        OperandWriter_release(&service->governor->operands);
        // If the governor's thread ran at the fork, it may have been freeing
        // the walk's memory. In this case the child does not free the walk's
        // memory.
        if (service->ended)
            TaskWalk_release(&service->governor->walk);
    }
    // CPython itself frees the thread states of other threads after a fork.
    Heap_free(service->governor);
    service->governor = NULL;
    service->governor_thread = NULL;
}
