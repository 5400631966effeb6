// SPDX-License-Identifier: MIT
// No thread holds the mutex while it waits for the GIL or for the server.
#include "python/service/activation.h"
#include "ipc/base/now.h"
#include "python/service/termination.h"
#include "python/service/worker_state.h"
#include "tracer/base/tsc_guard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum Task { TASK_NONE, TASK_ARM, TASK_DISARM, TASK_END };

// --- What there is to do ---------------------------------------------------

// Returns the next task of the activation thread. The caller holds the mutex.
static enum Task next_task(struct Activation *activation)
{
    const uint64_t now = Now_ns(CLOCK_MONOTONIC);
    bool deserted;

    if (activation->stop)
        return TASK_END;
    if (activation->held)
        return TASK_NONE;
    deserted = activation->traced && activation->armed && !activation->viewers;
    if (deserted && !activation->leaving)
        activation->due_ns = now + (uint64_t)(activation->grace_s * 1e9);
    activation->leaving = deserted;
    if (activation->viewers && !activation->traced)
        return TASK_ARM;
    return deserted && now >= activation->due_ns ? TASK_DISARM : TASK_NONE;
}

static enum Task wait_for_task(struct Activation *activation)
{
    struct timespec due;
    enum Task task;

    pthread_mutex_lock(&activation->mutex);
    while ((task = next_task(activation)) == TASK_NONE) {
        // While sessions are held, no timeout is needed, because
        // Activation_let_go signals `wake`.
        due = Now_timespec(activation->due_ns);
        if (activation->leaving && !activation->held)
            pthread_cond_clockwait(&activation->wake, &activation->mutex,
                                   CLOCK_MONOTONIC, &due);
        else
            pthread_cond_wait(&activation->wake, &activation->mutex);
    }
    activation->busy = task != TASK_END;
    pthread_mutex_unlock(&activation->mutex);
    return task;
}

static void rest(struct Activation *activation, bool traced)
{
    pthread_mutex_lock(&activation->mutex);
    activation->busy = false;
    activation->traced = traced;
    pthread_cond_broadcast(&activation->rests);
    pthread_mutex_unlock(&activation->mutex);
}

// --- The thread ------------------------------------------------------------

// Writes the exception that is set as an error message to `why`, and clears it.
static void take_words(char *why, size_t size)
{
    PyObject *error = PyErr_GetRaisedException();
    PyObject *words = PyObject_Str(error);
    const char *text = words ? PyUnicode_AsUTF8(words) : NULL;

    snprintf(why, size, "tracing cannot start: %s",
             text && *text ? text : Py_TYPE(error)->tp_name);
    PyErr_Clear();
    Py_XDECREF(words);
    Py_DECREF(error);
}

static void arm(struct Activation *activation)
{
    PyObject *result = PyObject_CallNoArgs(activation->arm);
    char why[512];

    if (result) {
        Py_DECREF(result);
        rest(activation, true);
        return;
    }
    take_words(why, sizeof why);
    // The viewers get an error and are disconnected. When the next viewer
    // connects, the activation thread tries again to start a session.
    Py_BEGIN_ALLOW_THREADS;
    Server_refuse(activation->persistent.server, EBUSY, why);
    rest(activation, false);
    Py_END_ALLOW_THREADS;
}

static void run(void *context)
{
    struct Activation *activation = context;
    PyThreadState *state = activation->thread_state;
    enum Task task;

    WorkerState_begin(state);
    do {
        WorkerState_leave();
        task = wait_for_task(activation);
        if (TscGuard_has_tripped())
            return; // no thread of Ocular may wait for the GIL any more
        WorkerState_take(state);
        if (task == TASK_ARM) {
            arm(activation);
        } else if (task == TASK_DISARM) {
            activation->disarm();
            activation->armed = false;
            rest(activation, false);
        }
    } while (task != TASK_END);
    WorkerState_end(state);
}

static void count(void *context, unsigned viewers)
{
    struct Activation *activation = context;

    pthread_mutex_lock(&activation->mutex);
    activation->viewers = viewers;
    activation->leaving &= !viewers; // A viewer ends the grace period.
    pthread_cond_signal(&activation->wake);
    pthread_mutex_unlock(&activation->mutex);
}

// --- Functions for other threads --------------------------------------------

static void make_locks(struct Activation *activation)
{
    pthread_mutex_init(&activation->mutex, NULL);
    pthread_cond_init(&activation->wake, NULL);
    pthread_cond_init(&activation->rests, NULL);
}

void Activation_init(struct Activation *activation, pthread_mutex_t *ending)
{
    activation->ending = ending;
    activation->persistent.viewers = count;
    activation->persistent.context = activation;
    make_locks(activation);
}

void Activation_end(struct Activation *activation)
{
    pthread_mutex_lock(&activation->mutex);
    activation->stop = true;
    pthread_cond_signal(&activation->wake);
    pthread_mutex_unlock(&activation->mutex);
}

int Activation_resume(struct Activation *activation)
{
    if (!activation->persistent.server || activation->worker.started)
        return 0;
    activation->stop = false;
    activation->worker.name = "ocular-activate";
    activation->worker.run = run;
    activation->worker.context = activation;
    return WorkerState_start(&activation->worker, &activation->thread_state,
                             activation->interpreter);
}

int Activation_open(struct Activation *activation, double grace_s)
{
    char why[1024];
    int error;

    if (activation->persistent.server)
        return 0;
    activation->interpreter = PyInterpreterState_Get();
    activation->grace_s = grace_s;
    activation->viewers = 0;
    error = PersistentServer_open(&activation->persistent, why, sizeof why);
    if (error) {
        PyErr_SetString(
            error == -ENOMEM ? PyExc_MemoryError : PyExc_RuntimeError, why);
        return -1;
    }
    Termination_serves(Server_path(activation->persistent.server));
    error = Activation_resume(activation);
    if (!error)
        return 0;
    Termination_serves_no_more();
    PersistentServer_close(&activation->persistent);
    PyErr_Format(PyExc_RuntimeError, "cannot start a thread: %s",
                 strerror(-error));
    return -1;
}

void Activation_pause(struct Activation *activation)
{
    if (!activation->worker.started || Worker_is_here(&activation->worker))
        return;
    Py_BEGIN_ALLOW_THREADS;
    Activation_end(activation);
    Worker_join(&activation->worker);
    Py_END_ALLOW_THREADS;
    // The ended thread has deleted its thread state.
    activation->thread_state = NULL;
}

void Activation_close(struct Activation *activation)
{
    Activation_pause(activation);
    Termination_serves_no_more();
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(activation->ending);
    PersistentServer_close(&activation->persistent);
    pthread_mutex_unlock(activation->ending);
    Py_END_ALLOW_THREADS;
}

void Activation_hold(struct Activation *activation)
{
    if (Worker_is_here(&activation->worker))
        return;
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&activation->mutex);
    activation->held++;
    while (activation->busy)
        pthread_cond_wait(&activation->rests, &activation->mutex);
    pthread_mutex_unlock(&activation->mutex);
    Py_END_ALLOW_THREADS;
}

void Activation_let_go(struct Activation *activation, bool traced)
{
    if (Worker_is_here(&activation->worker))
        return;
    activation->armed &= traced;
    pthread_mutex_lock(&activation->mutex);
    // If this process was forked after Activation_hold, Activation_abandon has
    // set `held` to 0.
    activation->held -= activation->held > 0;
    activation->traced = traced;
    pthread_cond_signal(&activation->wake);
    pthread_mutex_unlock(&activation->mutex);
}

bool Activation_abandon(struct Activation *activation)
{
    bool open = activation->persistent.server != NULL;

    if (open)
        Server_abandon(activation->persistent.server);
    activation->persistent.server = NULL;
    memset(&activation->worker, 0, sizeof activation->worker);
    activation->thread_state = NULL;
    activation->armed = activation->busy = activation->traced =
        activation->leaving = false;
    activation->held = 0;
    make_locks(activation);
    return open;
}
