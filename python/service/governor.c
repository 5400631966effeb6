// SPDX-License-Identifier: MIT
// The governor's thread. It does what tracer/budget/control.c decides, holds
// the interpreter for about 50 us at a time and waits for none of our other
// threads meanwhile.
#include "python/service/governor.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "python/hooks/adopt.h"
#include "python/hooks/calibrate.h"
#include "python/hooks/tools.h"
#include "python/service/code_words.h"
#include "python/service/poll.h"
#include "tracer/base/rcu.h"
#include "tracer/budget/control.h"
#include "tracer/budget/survey.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

// A slice is given the interpreter up to 5 ms after it asks (the switch
// interval), or more where many threads want it.
#define SLICE_S 100e-6
#define STACK_BYTES (512u << 10) // the interpreter runs on it

struct Governor {
    struct Service *service;
    struct State *state; // the service's
    PyInterpreterState *interpreter;
    pthread_mutex_t mutex; // guards stop, urged and urge_next_s
    pthread_cond_t wake;
    bool stop;
    bool urged;             // a viewer waits: for words, or what it wants armed
    double urge_next_s;     // of CLOCK_MONOTONIC; Control_may_wake
    struct Control control; // the thread's, as are all below
    struct Words *words;    // those that are being written
    struct Hottest hottest; // as ranked last
    struct Plan plan;       // what to arm again
    struct PolicyCosts costs;
    uint64_t all_hits;     // of each function in a round of all
    uint64_t renew_hits;   // a window is to begin, with so many; 0: none
    uint64_t hits;         // of the window that has begun last,
    uint64_t renew_ticks;  // ... and when
    uint64_t renew_since;  // only what was called since then gets more
    uint64_t window_ticks; // when the window before has begun
    uint32_t counted;      // functions that were called since, so far
    uint32_t active;       // ... and in the window before that
    struct Slices slices;
    struct PreemptionRate preemption;
};

// --- Re-arming -------------------------------------------------------------

static uint64_t ticks_of(const struct Governor *governor, double s)
{
    return (uint64_t)(s * Clock_hz(&governor->state->engine.clock));
}

static bool has_time(const struct Governor *governor, uint64_t deadline)
{
    return Clock_read(&governor->state->engine.clock) < deadline;
}

static uint64_t threshold_of(const struct Governor *governor)
{
    return governor->state->engine.session->config.threshold;
}

static void spend(struct Governor *governor, double seconds)
{
    Control_spend(&governor->control, seconds);
}

// One of all: its callees have their own turn.
static void rearm_one(struct Governor *governor, struct Code *code,
                      uint64_t hits)
{
    const struct PolicyFunction function = {.bytes = 2 * code->unit_count,
                                            .sites = code->jump_count};

    Adopt_rearm(governor->state, code, hits);
    spend(governor, Policy_cost(&governor->costs, &function, (uint32_t)hits));
}

// Somebody has asked for it: also for what it takes of its own, which nobody
// knows while it calls something dark.
static void rearm_wished(struct Governor *governor, struct Code *code)
{
    const struct PolicyFunction function = {
        .callees = code->warming ? 0 : code->dark_callees,
        .reach = code->visit.reach,
    };

    rearm_one(governor, code, threshold_of(governor));
    if (function.callees) {
        Code_want_callees(code, Policy_callee_hits(function.reach));
        spend(governor, Policy_cost(&governor->costs, &function, 0));
    }
}

// Every dark or partly dark function, a slice at a time.
static void rearm_all(struct Governor *governor, uint64_t deadline)
{
    struct State *state = governor->state;

    while (state->rearm_next && governor->control.urgent > 0 &&
           has_time(governor, deadline)) {
        struct Code *code = state->rearm_next;

        state->rearm_next = Registry_next(code);
        if (!code->exact)
            rearm_one(governor, code, governor->all_hits);
    }
}

// As many hits as the budget's burst can bear of so many functions.
static void begin_round(struct Governor *governor)
{
    struct State *state = governor->state;

    governor->all_hits = Policy_all_hits(
        &governor->costs, Registry_count(state->engine.registry),
        governor->control.urgent, threshold_of(governor));
    state->rearm_next = Registry_first(state->engine.registry);
}

static void rearm_wanted(struct Governor *governor, uint64_t deadline)
{
    struct State *state = governor->state;
    struct Session *session = state->engine.session;
    uint32_t id;

    while (governor->control.urgent > 0 && has_time(governor, deadline) &&
           Rearm_pop(&session->rearm, &id)) {
        struct Code *code = Registry_by_id(state->engine.registry, id);

        // A round that is under way goes on: begun anew by each request, it
        // might never come to its end.
        if (id == 0 && !state->rearm_next)
            begin_round(governor);
        else if (code)
            rearm_wished(governor, code);
    }
    rearm_all(governor, deadline);
}

static void rearm_item(struct Governor *governor, const struct PlanItem *item)
{
    struct State *state = governor->state;
    struct Code *code = Registry_by_id(state->engine.registry, item->id);
    uint64_t most = threshold_of(governor), hits = item->hits;

    if (!code)
        return;
    most = most > governor->hits ? most : governor->hits;
    hits = hits < most ? hits : most;
    // Its own callee: as deep as it goes before the first call of it ends.
    if (item->callee_hits > hits && Code_has_caller(code, code->id))
        hits = item->callee_hits;
    spend(governor, item->seconds);
    if (code->dark || code->broken) {
        if (Adopt_rearm(state, code, hits)) {
            code->refusals++;
            return;
        }
        code->refusals = 0;
    }
    code->visited = item->times;
    Visit_begin(&code->visit, Cell_get(&code->self_calls),
                Cell_cycles(&code->self_cycles));
    if (item->callee_hits)
        Code_want_callees(code, item->callee_hits);
}

// true: there is more to do, and the means for it.
static bool rearm_planned(struct Governor *governor, uint64_t deadline)
{
    while (governor->control.grant > 0) {
        const struct PlanItem *item;

        if (!has_time(governor, deadline))
            return governor->plan.next < governor->plan.count;
        item = Plan_pop(&governor->plan);
        if (!item)
            return false;
        rearm_item(governor, item);
    }
    return false;
}

// --- Windows ---------------------------------------------------------------

// What is armed goes dark after so many hits from here on.
static void renew(struct Governor *governor, uint64_t deadline)
{
    struct State *state = governor->state;

    if (governor->renew_hits) {
        state->renew_next = Registry_first(state->engine.registry);
        // Where it has risen, what was not called since has enough.
        governor->active = governor->counted;
        governor->counted = 0;
        governor->window_ticks = governor->renew_ticks;
        governor->renew_since =
            governor->renew_hits >= governor->hits ? governor->renew_ticks : 0;
        governor->renew_ticks = Clock_read(&state->engine.clock);
        governor->hits = governor->renew_hits;
        governor->renew_hits = 0;
        state->window++;
    }
    while (state->renew_next && has_time(governor, deadline)) {
        struct Code *code = state->renew_next;

        uint64_t seen = Cell_get(&code->last_seen);

        state->renew_next = Registry_next(code);
        governor->counted += seen >= governor->window_ticks;
        if (seen >= governor->renew_since)
            Code_renew(code, governor->hits, state->window);
    }
}

// --- Words -----------------------------------------------------------------

// What viewers are shown for the arguments of instructions. true: there is more
// to do.
static bool write_words(struct Governor *governor, uint64_t deadline)
{
    struct Engine *engine = &governor->state->engine;
    struct Session *session = engine->session;
    uint32_t id;

    while (governor->words || (id = Details_next_words(&session->details))) {
        struct Code *code;
        int done = -ENOENT;

        if (!governor->words)
            governor->words = Words_new(id);
        if (!governor->words)
            return false;
        code = Registry_by_id(engine->registry, governor->words->id);
        if (code)
            done = CodeWords_read(governor->words,
                                  (const PyCodeObject *)code->address,
                                  &engine->clock, deadline);
        if (done == 0)
            return true;
        if (done > 0)
            Details_deliver(&session->details, governor->words);
        else
            Words_free(governor->words);
        governor->words = NULL;
        if (!has_time(governor, deadline))
            return true;
    }
    return false;
}

static void urge(void *context)
{
    struct Governor *governor = context;

    pthread_mutex_lock(&governor->mutex);
    if (Control_may_wake(&governor->urge_next_s, Now_s(CLOCK_MONOTONIC))) {
        governor->urged = true;
        pthread_cond_signal(&governor->wake);
    }
    pthread_mutex_unlock(&governor->mutex);
}

// --- The thread ------------------------------------------------------------

// The functions to look at most often, and those to arm again; without the
// interpreter's lock.
static void rank(struct Governor *governor, double now_s)
{
    struct Engine *engine = &governor->state->engine;
    const struct Worker *worker = &engine->session->governor;
    struct Sampler *sampler = engine->session->sampler;
    struct Control *control = &governor->control;
    struct ShareTime sampled;
    struct Survey survey = {
        .registry = engine->registry,
        .costs = governor->costs,
        .ticks = Clock_read(&engine->clock),
        .hz = Clock_hz(&engine->clock),
        .rate = control->rate,
        .pressure = control->pressure,
        .behind = Plan_is_behind(&governor->plan),
        .window_hits = control->hits,
        .room = control->room,
    };
    uint64_t begin_ns = Worker_cpu_ns(worker);

    if (sampler && !Sampler_is_blind(sampler)) {
        sampled = Sampler_now(sampler);
        survey.sampled = &sampled;
    }
    Hottest_rank(&governor->hottest, engine->registry, survey.ticks,
                 survey.sampled);
    if (control->held)
        Survey_plan(&survey, &governor->plan); // without memory: a part of it
    Control_ranked(control, now_s,
                   (double)(Worker_cpu_ns(worker) - begin_ns) * 1e-9);
}

static void note_edges(struct State *state, uint64_t deadline)
{
    struct Sampler *sampler = state->engine.session->sampler;
    struct Edge edge;

    while (sampler && Clock_read(&state->engine.clock) < deadline &&
           Sampler_take_edge(sampler, &edge))
        Engine_note_edge(&state->engine, &edge);
}

// What visits are taken to cost: what their hooks will be accounted for.
static void price(struct Governor *governor)
{
    const struct Engine *engine = &governor->state->engine;
    const int64_t *cost = engine->cost;
    double tick = ACCOUNT_COLD / Clock_hz(&engine->clock);
    int64_t call = cost[HOOK_ENTER] + cost[HOOK_LEAVE];

    governor->costs =
        Policy_costs((double)call * tick, (double)cost[HOOK_JUMP] * tick);
}

// A full slice, or one that only goes on with what was begun. true: there is
// more of it.
static bool slice(struct Governor *governor, bool full)
{
    struct State *state = governor->state;
    const struct Control *control = &governor->control;
    uint64_t deadline =
        Clock_read(&state->engine.clock) + ticks_of(governor, SLICE_S);
    bool more, words;

    if (state->phase != PHASE_TRACING)
        return false;
    if (full) {
        price(governor);
        state->engine.contention.preempted = PreemptionRate_is_high(
            &governor->preemption, Now_s(CLOCK_MONOTONIC));
        Calibration_allow(state->calibration,
                          control->held ? control->rate : 0);
        Tools_watch(state);
        note_edges(state, deadline);
        Adopt_running_put_off(state);
        governor->service->poll.hottest = governor->hottest;
    }
    renew(governor, deadline);
    rearm_wanted(governor, deadline);
    words = write_words(governor, deadline);
    more = rearm_planned(governor, deadline);
    more |= state->renew_next || (state->rearm_next && control->urgent > 0);
    more |= Poll_slice(&governor->service->poll, state, full, deadline) &&
            Control_may_hurry(control);
    if (full) {
        const struct OurThreads ours = Service_threads(governor->service);

        ThreadList_update(&governor->service->thread_list, state, &ours);
    }
    return more || words;
}

// false: it is time to end.
static bool wait_s(struct Governor *governor, double s, bool *urged)
{
    long ms = (long)ceil(s * 1e3);
    struct timespec due;
    bool stop;

    clock_gettime(CLOCK_MONOTONIC, &due);
    due.tv_nsec += ms * 1000000L;
    if (due.tv_nsec >= 1000000000L) {
        due.tv_nsec -= 1000000000L;
        due.tv_sec++;
    }
    pthread_mutex_lock(&governor->mutex);
    while (!governor->stop && !governor->urged &&
           pthread_cond_timedwait(&governor->wake, &governor->mutex, &due) == 0)
        ;
    stop = governor->stop;
    *urged = governor->urged;
    governor->urged = false;
    pthread_mutex_unlock(&governor->mutex);
    return !stop;
}

// What is to be done now, and what the sampler and new code are told of it;
// without the interpreter's lock.
static struct ControlDecision decide(struct Governor *governor, double now_s,
                                     bool urged)
{
    struct Session *session = governor->state->engine.session;
    struct ControlReading reading = {
        .newest_code = Registry_newest_id(session->engine->registry),
        .asked = urged,
        .renewing = governor->renew_hits || governor->state->renew_next,
        .call_s = governor->costs.call,
        .active = governor->active,
    };
    bool opens =
        Control_needs_account(&governor->control, now_s, reading.newest_code);
    struct ControlDecision decision;

    if (opens)
        reading.budget = Account_open(&session->account);
    decision = Control_step(&governor->control, now_s, &reading);
    if (opens)
        Account_close(&session->account);
    atomic_store_explicit(&session->first_hits, decision.first_hits,
                          memory_order_relaxed);
    atomic_store_explicit(&session->arm_new, decision.arm_new,
                          memory_order_relaxed);
    if (decision.renew_hits > 0)
        governor->renew_hits = decision.renew_hits;
    if (decision.sampler_hz > 0 && session->sampler)
        Sampler_set_hz(session->sampler, decision.sampler_hz);
    return decision;
}

// With the interpreter's lock.
static bool timed_slice(struct Governor *governor, bool full)
{
    const struct Worker *worker = &governor->state->engine.session->governor;
    struct Slices *slices = &governor->slices;
    uint64_t ns = Worker_cpu_ns(worker);
    bool more = slice(governor, full);

    ns = Worker_cpu_ns(worker) - ns;
    slices->count++;
    slices->held_ns += ns;
    if (ns > slices->longest_ns)
        slices->longest_ns = ns;
    return more;
}

struct Slices Governor_slices(const struct Service *service)
{
    return service->governor ? service->governor->slices : (struct Slices){0};
}

// With the interpreter's lock for a moment. true: there is more to do.
static bool attend(struct Governor *governor, bool full)
{
    bool more;

    PyEval_RestoreThread(governor->service->governor_thread);
    more = timed_slice(governor, full);
    PyEval_SaveThread();
    return more;
}

// One wake-up; s until the next.
static double wake_up(struct Governor *governor, bool urged)
{
    double now_s = Now_s(CLOCK_MONOTONIC);
    struct ControlDecision decision = decide(governor, now_s, urged);
    bool more = false;

    if (decision.rank)
        rank(governor, now_s);
    if (decision.attend)
        more = attend(governor, decision.full);
    return Control_pause(&governor->control, Now_s(CLOCK_MONOTONIC), more);
}

static void run(void *context)
{
    struct Governor *governor = context;
    PyThreadState *state = governor->service->governor_thread;
    double pause;
    bool urged;

    PyEval_RestoreThread(state);
    // A thread state takes the ids of the thread that makes it.
    state->thread_id = PyThread_get_thread_ident();
    state->native_thread_id = PyThread_get_thread_native_id();
    PyEval_SaveThread();
    pause = Control_begin(&governor->control, Now_s(CLOCK_MONOTONIC));
    while (wait_s(governor, pause, &urged))
        pause = wake_up(governor, urged);
    PyEval_RestoreThread(state);
    PyThreadState_Clear(state);
    PyThreadState_DeleteCurrent();
}

int Governor_resume(struct Service *service)
{
    struct Governor *governor = service->governor;
    struct Worker *worker = &service->state->engine.session->governor;
    int error;

    if (!governor || worker->started)
        return 0;
    // Made here, with the lock: memory that Python hands out without it goes
    // through tracemalloc, which crashes if it is stopped meanwhile (gh-128679,
    // up to 3.13.1).
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
    pthread_condattr_t monotonic;
    int error;

    if (!governor) {
        PyErr_NoMemory();
        return -1;
    }
    governor->service = service;
    governor->state = service->state;
    governor->interpreter = PyInterpreterState_Get();
    Control_init(&governor->control, engine->session->config.threshold);
    price(governor);
    pthread_mutex_init(&governor->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&governor->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    service->governor = governor;
    error = Governor_resume(service);
    if (error == 0) {
        Details_set_urge(&engine->session->details, urge, governor);
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
    governor->service->governor_thread = NULL; // ended with its thread
}

void Governor_pause(struct Service *service)
{
    if (service->governor) // or a finalizer forks while tracing begins
        end_thread(service->governor);
}

void Governor_stop(struct Service *service)
{
    struct Governor *governor = service->governor;

    if (!governor)
        return;
    Details_set_urge(&service->state->engine.session->details, NULL, NULL);
    end_thread(governor);
    service->governor = NULL;
    pthread_mutex_destroy(&governor->mutex);
    pthread_cond_destroy(&governor->wake);
    Plan_release(&governor->plan);
    Words_free(governor->words);
    Heap_free(governor);
}

void Governor_abandon(struct Service *service)
{
    if (service->governor) {
        Plan_release(&service->governor->plan);
        Words_free(service->governor->words);
    }
    // CPython frees the thread states of the other threads after fork.
    Heap_free(service->governor);
    service->governor = NULL;
    service->governor_thread = NULL;
}
