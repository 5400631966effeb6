// SPDX-License-Identifier: MIT
// See child_starter.h.
#include "python/service/child_starter.h"
#include "python/service/worker_state.h"

#include <string.h>
#include <unistd.h>

#define DELAY_MS 100

// Waits until the session is to start. Returns false if the starter was
// stopped.
static bool wait_until_due(struct ChildStarter *starter)
{
    bool stop;

    pthread_mutex_lock(&starter->mutex);
    while (!starter->stop &&
           pthread_cond_timedwait(&starter->wake, &starter->mutex,
                                  &starter->due) == 0)
        ;
    stop = starter->stop;
    pthread_mutex_unlock(&starter->mutex);
    return !stop;
}

static void start_session(struct ChildStarter *starter)
{
    PyObject *error = PyErr_GetRaisedException();

    if (starter->pending) {
        starter->pending = false;
        Py_XDECREF(PyObject_CallOneArg(starter->start,
                                       starter->traces ? Py_True : Py_False));
    }
    // Also drops an exception that the start has raised.
    PyErr_SetRaisedException(error);
}

static void run(void *context)
{
    struct ChildStarter *starter = context;
    // The thread state is made only now. At the fork another thread may have
    // held CPython's lock for the list of thread states, and in the child
    // nobody would release this lock.
    PyThreadState *state = wait_until_due(starter)
                               ? PyThreadState_New(starter->interpreter)
                               : NULL;

    if (!state)
        return;
    WorkerState_take(state);
    starter->thread_state = state;
    starter->settle();
    start_session(starter);
    // The pointer is cleared first, because the next thread state may have the
    // same address.
    starter->thread_state = NULL;
    WorkerState_end(state);
}

bool ChildStarter_is_here(const struct ChildStarter *starter)
{
    return starter->worker.started && starter->worker.tid == gettid();
}

static void end_thread(struct ChildStarter *starter)
{
    // The starter's thread cannot join itself if the start of the session has
    // called this function.
    if (!starter->worker.started || ChildStarter_is_here(starter))
        return;
    pthread_mutex_lock(&starter->mutex);
    starter->stop = true;
    pthread_cond_signal(&starter->wake);
    pthread_mutex_unlock(&starter->mutex);
    Py_BEGIN_ALLOW_THREADS;
    Worker_join(&starter->worker);
    Py_END_ALLOW_THREADS;
}

void ChildStarter_plan(struct ChildStarter *starter, bool serves, bool traces)
{
    pthread_condattr_t monotonic;

    starter->interpreter = PyInterpreterState_Main();
    pthread_mutex_init(&starter->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&starter->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    clock_gettime(CLOCK_MONOTONIC, &starter->due);
    starter->due.tv_nsec += DELAY_MS * 1000000L;
    if (starter->due.tv_nsec >= 1000000000L) {
        starter->due.tv_nsec -= 1000000000L;
        starter->due.tv_sec++;
    }
    starter->pending = starter->start != NULL;
    starter->serves = serves;
    starter->traces = traces;
    ChildStarter_resume(starter);
}

void ChildStarter_pause(struct ChildStarter *starter)
{
    end_thread(starter);
}

int ChildStarter_resume(struct ChildStarter *starter)
{
    if (!starter->pending || starter->worker.started)
        return 0;
    starter->stop = false;
    return Worker_start(&starter->worker, "ocular-child", run, starter,
                        ATTACH_STACK_BYTES);
}

void ChildStarter_cancel(struct ChildStarter *starter)
{
    starter->pending = false;
    end_thread(starter);
}

void ChildStarter_cancel_trace(struct ChildStarter *starter)
{
    starter->traces = false;
    if (!starter->pending || !starter->serves)
        ChildStarter_cancel(starter);
}

void ChildStarter_cancel_serving(struct ChildStarter *starter)
{
    starter->serves = false;
    if (!starter->pending || !starter->traces)
        ChildStarter_cancel(starter);
}

void ChildStarter_hurry(struct ChildStarter *starter)
{
    if (starter->pending)
        start_session(starter);
}

void ChildStarter_abandon(struct ChildStarter *starter)
{
    memset(&starter->worker, 0, sizeof starter->worker);
    starter->thread_state = NULL;
}
