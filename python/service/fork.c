// SPDX-License-Identifier: MIT
// The C library calls its handlers at every fork, even if CPython does not know
// of the fork.
#include "python/service/fork.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "python/hooks/gil_facts.h"
#include "python/hooks/hooks.h"
#include "python/hooks/object_watch.h"
#include "python/hooks/own_trace.h"
#include "python/hooks/thread_state.h"
#include "python/service/governor.h"
#include "tracer/base/rcu.h"
#include "tracer/session/lifetime.h"

#include <pthread.h>
#include <time.h>

#define DETACHED_S 2 // A fork waits at most this number of seconds.
#define POLL_NS 1000000L
// Time in ns after which a child frees the parent's session.
#define LINGER_NS 100000000u

static int settle_later(void *context);

// --- Every fork: locks -----------------------------------------------------

// Returns true during os.fork(), which gives the child a new GIL. os.fork()
// does not call Fork_before if Ocular was imported after os.fork() had begun.
// In this case the GIL must not be released either: another thread that ends
// would take the GIL and then wait forever for the list of threads.
static bool is_pythons_fork(void)
{
    return pthread_equal(ocular_service.forker, pthread_self()) ||
           (THREAD_STATE_CALL() && GilFacts_list_is_locked());
}

// At a fork in C, waits until no thread of Ocular holds the GIL or waits for
// it. After that, prevents Ocular's threads from taking the GIL. Returns true
// on success. If a thread of Ocular held the GIL at the fork, the child's GIL
// would never be released. If a thread of Ocular waited for the GIL, the child
// would hang as well, because glibc's condition variable would wait for this
// thread at the second next signal. Therefore the fork waits until each thread
// of Ocular that waits for the GIL has got it.
static bool detach_ours(void)
{
    PyThreadState *state = NULL;
    struct timespec most;
    int error;

    if (is_pythons_fork())
        return false;
    if (pthread_rwlock_trywrlock(&ocular_state.attached) == 0)
        return true;
    if (THREAD_STATE_CALL())
        state = PyEval_SaveThread();
    clock_gettime(CLOCK_REALTIME, &most);
    most.tv_sec += DETACHED_S;
    error = pthread_rwlock_timedwrlock(&ocular_state.attached, &most);
    if (state)
        PyEval_RestoreThread(state);
    return error == 0;
}

// Returns true if other threads of the program may wait for the GIL at a fork
// in C. As soon as the child had a second thread, it would hang like a child
// that is described above.
static bool has_threads(void)
{
    const struct OurThreads ours = Service_threads(&ocular_service);

    return !is_pythons_fork() && THREAD_STATE_CALL() &&
           ThreadList_count(&ours) > 1;
}

static void hold_locks(void)
{
    bool detached = detach_ours(), threaded = has_threads();

    // `ending` is locked first, because the wait for this lock may take as long
    // as closing a server. `ending` also guards `detached`, because two threads
    // may fork at once.
    pthread_mutex_lock(&ocular_state.engine.ending);
    ocular_service.detached = detached;
    ocular_service.threaded = threaded;
    Counting_begin(&ocular_state.engine.counting);
    pthread_mutex_lock(&ocular_state.engine.traces.mutex);
    pthread_mutex_lock(&ocular_state.engine.names.mutex);
    Registry_before_fork(ocular_state.engine.registry);
    Rcu_before_fork();
    Heap_before_fork();
}

static void let_go_of_locks(void)
{
    bool detached = ocular_service.detached;

    Heap_after_fork();
    Rcu_after_fork_parent();
    Registry_after_fork(ocular_state.engine.registry);
    pthread_mutex_unlock(&ocular_state.engine.names.mutex);
    pthread_mutex_unlock(&ocular_state.engine.traces.mutex);
    Counting_end(&ocular_state.engine.counting);
    pthread_mutex_unlock(&ocular_state.engine.ending);
    if (detached)
        pthread_rwlock_unlock(&ocular_state.attached);
}

// The silenced hooks of a child call this function. If the fork was more than
// LINGER_NS ago, a pending call frees the parent's session.
static void linger(void)
{
    struct Service *service = &ocular_service;

    if (service->leftover && !service->resuming &&
        Now_ns(CLOCK_MONOTONIC) > service->forked_ns + LINGER_NS)
        service->resuming = Py_AddPendingCall(settle_later, service) == 0;
}

// Silences the hooks in a child. Most children soon call exec or end. So the
// session is freed only when Ocular is called, when the child starter starts,
// or after LINGER_NS.
static void fall_silent(struct Service *service)
{
    Hooks_silence(service->state, linger);
    ObjectWatch_silence(service->state);
    service->state->phase = PHASE_STOPPING;
    service->leftover = true;
    service->forked_ns = Now_ns(CLOCK_MONOTONIC);
}

// Does the work of Fork_after_in_child, which CPython does not call after a
// fork in C.
static void begin_child_of_c(struct Service *service)
{
    if (service->state->phase == PHASE_TRACING)
        fall_silent(service);
    if (!service->threaded)
        ChildStarter_plan(&service->child_starter);
}

static void be_a_child(void)
{
    struct Engine *engine = &ocular_state.engine;
    bool serves, traces;

    Heap_after_fork();
    Rcu_after_fork_child();
    Registry_after_fork(engine->registry);
    pthread_mutex_init(&engine->names.mutex, NULL);
    pthread_mutex_init(&engine->ending, NULL);
    pthread_rwlock_init(&ocular_state.attached, NULL);
    Counting_after_fork(&engine->counting);
    EventLoops_after_fork(&engine->loops);
    ThreadTraces_keep_only(&engine->traces, own_trace);
    if (engine->session)
        Session_abandon(engine->session);
    if (own_trace) {
        // In the child no thread drains this ring.
        Ring_free(own_trace->ring);
        own_trace->ring = NULL;
    }
    traces = engine->session && engine->session->config.serve &&
             !ocular_service.activation.armed;
    serves = Activation_abandon(&ocular_service.activation);
    ChildStarter_inherit(&ocular_service.child_starter, serves, traces);
    ocular_service.forked = ocular_state.phase != PHASE_IDLE || serves;
    if (!is_pythons_fork())
        begin_child_of_c(&ocular_service);
}

static void settle(void)
{
    Fork_settle(&ocular_service);
}

int Fork_init(void)
{
    static bool done;
    int error;

    if (done)
        return 0;
    ocular_service.child_starter.settle = settle;
    error = pthread_atfork(hold_locks, let_go_of_locks, be_a_child);
    done = error == 0;
    return -error;
}

// --- A fork through Python: threads ----------------------------------------

// Returns true if CPython would warn of threads only because of Ocular's
// threads.
static bool would_be_alone(const struct Service *service)
{
    const struct State *state = service->state;
    const struct OurThreads ours = Service_threads(service);

    return !state->users && ThreadList_count(&ours) <= 1;
}

// Adds the CPU time that the calling thread of the program has used since
// `began_ns` to Ocular's cost.
static void note_cost(struct State *state, uint64_t began_ns)
{
    if (state->phase == PHASE_TRACING)
        Counter_add(&state->engine.session->forks_ns,
                    Now_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns);
}

// Pauses the threads of the session, or the persistent server if there is no
// session.
static void pause_threads(struct Service *service)
{
    struct State *state = service->state;
    struct Server *server = service->activation.persistent.server;

    if (state->phase == PHASE_TRACING)
        Governor_pause(service);
    Py_BEGIN_ALLOW_THREADS;
    if (state->phase == PHASE_TRACING)
        Session_pause(state->engine.session);
    else if (server)
        Server_pause(server);
    Py_END_ALLOW_THREADS;
}

static void end_threads(struct Service *service)
{
    const struct State *state = service->state;
    bool open = service->activation.persistent.server;

    ChildStarter_pause(&service->child_starter);
    service->paused |= ChildStarter_has_plan(&service->child_starter);
    if ((state->phase != PHASE_TRACING && !open) || service->pausing ||
        !would_be_alone(service))
        return;
    // If the activation thread is starting or stopping a session,
    // Activation_pause lets it finish.
    Activation_pause(&service->activation);
    service->paused |= open;
    if ((state->phase != PHASE_TRACING && state->phase != PHASE_IDLE) ||
        service->pausing || !would_be_alone(service))
        return;
    // Other threads that call Ocular while the GIL is released wait in
    // Fork_settle.
    service->pausing = true;
    pause_threads(service);
    service->pausing = false;
    service->ended = service->paused = true;
}

void Fork_before(struct Service *service)
{
    uint64_t began_ns = Now_ns(CLOCK_THREAD_CPUTIME_ID);

    end_threads(service);
    service->forker = pthread_self();
    note_cost(service->state, began_ns);
}

// Starts Ocular's threads again. If a thread cannot start, `paused` stays true,
// so that the next call tries again.
static void resume(struct Service *service)
{
    struct State *state = service->state;
    struct Server *server = service->activation.persistent.server;
    uint64_t began_ns = Now_ns(CLOCK_THREAD_CPUTIME_ID);
    bool whole = true;

    service->ended = false;
    if (state->phase == PHASE_TRACING)
        whole = Session_resume(state->engine.session) == 0 &&
                Governor_resume(service) == 0;
    else if (server)
        whole = Server_resume(server) == 0;
    whole &= Activation_resume(&service->activation) == 0;
    whole &= ChildStarter_resume(&service->child_starter) == 0;
    note_cost(state, began_ns);
    service->paused = !whole;
}

// A pending call that resumes Ocular's threads. If the stack is deeper than at
// os.fork(), another library's fork handler is running, and CPython has not
// counted the threads yet, so the pending call is postponed.
static int resume_later(void *context)
{
    struct Service *service = context;

    service->resuming = false;
    if (!service->paused)
        return 0;
    if (ThreadState_depth(THREAD_STATE_CALL()) > service->fork_depth &&
        Py_AddPendingCall(resume_later, service) == 0)
        service->resuming = true;
    else
        resume(service);
    return 0;
}

void Fork_after_in_parent(struct Service *service)
{
    uint32_t depth = ThreadState_depth(THREAD_STATE_CALL());

    service->forker = 0;
    if (!service->paused)
        return;
    // A fork handler may call os.fork() itself. CPython then has not yet
    // counted the threads for the outer os.fork(), so the smaller depth is
    // kept.
    if (!service->resuming || depth < service->fork_depth)
        service->fork_depth = depth;
    if (!service->resuming) {
        service->resuming = Py_AddPendingCall(resume_later, service) == 0;
        // The queue of pending calls is full. If threads start now, CPython may
        // warn of threads at the fork, but threads that stay paused would be
        // worse.
        if (!service->resuming)
            resume(service);
    }
}

// In a child, disarms the parent's hooks and frees the parent's session.
// Disarming and freeing take 5 us per function.
static void let_session_go(struct Service *service)
{
    struct State *state = service->state;
    struct Session *session = state->engine.session;

    Hooks_remove(state);
    Governor_abandon(service);
    ObjectWatch_stop(state);
    Hooks_forget(state);
    if (service->ended) // no thread of Ocular ran at the fork
        Registry_free_retired(state->engine.registry);
    state->engine.session = NULL;
    // If Ocular's threads ran at the fork, one of them may have been changing
    // the session. Therefore the child does not free the session.
    if (session && service->ended)
        Session_free(session);
    state->users = 0;
    service->ended = service->leftover = service->resuming = false;
    state->phase = PHASE_IDLE;
}

void Fork_settle(struct Service *service)
{
    const struct timespec pause = {0, POLL_NS};

    if (service->forked) // True after a fork in C code.
        Fork_after_in_child(service);
    if (service->leftover)
        let_session_go(service);
    while (service->pausing) {
        Py_BEGIN_ALLOW_THREADS;
        nanosleep(&pause, NULL);
        Py_END_ALLOW_THREADS;
    }
    if (service->paused)
        resume(service);
}

// --- The child -------------------------------------------------------------

static int settle_later(void *context)
{
    Fork_settle(context);
    return 0;
}

void Fork_after_in_child(struct Service *service)
{
    struct State *state = service->state;

    // If the fork came during a start or a stop, the child goes on with the
    // start or the stop and must find no session.
    if (service->forked && state->phase == PHASE_TRACING) {
        fall_silent(service);
    } else if (service->forked && state->phase != PHASE_IDLE &&
               !service->leftover) {
        state->phase = PHASE_STOPPING;
        let_session_go(service);
    }
    service->forked = false;
    service->paused = service->pausing = service->resuming = false;
    service->ended &= service->leftover;
    service->forker = 0;
    if (!service->child_starter.worker.started)
        ChildStarter_plan(&service->child_starter);
}
