// SPDX-License-Identifier: MIT
#include "python/service/child_starter.h"
#include "ipc/base/now.h"
#include "python/service/worker_state.h"

#include <string.h>

#define DELAY_MS 100

// Waits until the session is to start. Returns false if the starter was
// stopped.
static bool wait_until_due(struct ChildStarter *starter)
{
    bool stop;

    pthread_mutex_lock(&starter->mutex);
    while (!starter->stop &&
           pthread_cond_clockwait(&starter->wake, &starter->mutex,
                                  CLOCK_MONOTONIC, &starter->due) == 0)
        ;
    stop = starter->stop;
    pthread_mutex_unlock(&starter->mutex);
    return !stop;
}

void ChildStarter_hurry(struct ChildStarter *starter)
{
    PyObject *error = PyErr_GetRaisedException();
    PyObject *traces = starter->traces ? Py_True : Py_False;
    bool has_plan = ChildStarter_has_plan(starter);

    starter->serves = starter->traces = false;
    if (has_plan && starter->start)
        Py_XDECREF(PyObject_CallOneArg(starter->start, traces));
    // Also drops an exception that the start of the session has raised.
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
    ChildStarter_hurry(starter);
    // The pointer is cleared before the thread state is freed, because the next
    // thread state may have the same address.
    starter->thread_state = NULL;
    WorkerState_end(state);
}

void ChildStarter_inherit(struct ChildStarter *starter, bool serves,
                          bool traces)
{
    memset(&starter->worker, 0, sizeof starter->worker);
    starter->thread_state = NULL;
    starter->serves |= serves;
    starter->traces |= traces;
}

void ChildStarter_plan(struct ChildStarter *starter)
{
    if (!ChildStarter_has_plan(starter))
        return;
    starter->interpreter = PyInterpreterState_Main();
    pthread_mutex_init(&starter->mutex, NULL);
    pthread_cond_init(&starter->wake, NULL);
    starter->due = Now_in_ms(DELAY_MS);
    ChildStarter_resume(starter);
}

void ChildStarter_pause(struct ChildStarter *starter)
{
    // The starter's thread cannot join itself if the start of the session has
    // called this function.
    if (!starter->worker.started || Worker_is_here(&starter->worker))
        return;
    pthread_mutex_lock(&starter->mutex);
    starter->stop = true;
    pthread_cond_signal(&starter->wake);
    pthread_mutex_unlock(&starter->mutex);
    Py_BEGIN_ALLOW_THREADS;
    Worker_join(&starter->worker);
    Py_END_ALLOW_THREADS;
}

int ChildStarter_resume(struct ChildStarter *starter)
{
    if (!ChildStarter_has_plan(starter) || starter->worker.started)
        return 0;
    starter->stop = false;
    return Worker_start(&starter->worker, "ocular-child", run, starter,
                        ATTACH_STACK_BYTES);
}

void ChildStarter_cancel_trace(struct ChildStarter *starter)
{
    starter->traces = false;
    if (!starter->serves)
        ChildStarter_pause(starter);
}

void ChildStarter_cancel_serving(struct ChildStarter *starter)
{
    starter->serves = false;
    if (!starter->traces)
        ChildStarter_pause(starter);
}
