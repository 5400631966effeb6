// SPDX-License-Identifier: MIT
// Waits for viewers without a timeout; arms and disarms. The mutex is never
// held while the interpreter's lock, or the server, is waited for.
#include "python/service/doorman.h"
#include "python/service/attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum Task { TASK_NONE, TASK_ARM, TASK_DISARM, TASK_END };

// --- What there is to do ---------------------------------------------------

static bool is_past(const struct timespec *due)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec != due->tv_sec ? now.tv_sec > due->tv_sec
                                     : now.tv_nsec >= due->tv_nsec;
}

static void set_due(struct Doorman *doorman)
{
    struct timespec *due = &doorman->due;
    time_t whole = (time_t)doorman->grace_s;

    clock_gettime(CLOCK_MONOTONIC, due);
    due->tv_sec += whole;
    due->tv_nsec += (long)(1e9 * (doorman->grace_s - (double)whole));
    if (due->tv_nsec >= 1000000000L) {
        due->tv_nsec -= 1000000000L;
        due->tv_sec++;
    }
}

// With the mutex held.
static enum Task next_task(struct Doorman *doorman)
{
    bool deserted;

    if (doorman->stop)
        return TASK_END;
    if (doorman->held)
        return TASK_NONE;
    deserted = doorman->traced && doorman->armed && !doorman->viewers;
    if (deserted && !doorman->leaving)
        set_due(doorman);
    doorman->leaving = deserted;
    if (doorman->viewers && !doorman->traced)
        return TASK_ARM;
    return deserted && is_past(&doorman->due) ? TASK_DISARM : TASK_NONE;
}

static enum Task wait_for_task(struct Doorman *doorman)
{
    enum Task task;

    pthread_mutex_lock(&doorman->mutex);
    while ((task = next_task(doorman)) == TASK_NONE) {
        // Whoever holds it rings when he lets go.
        if (doorman->leaving && !doorman->held)
            pthread_cond_timedwait(&doorman->wake, &doorman->mutex,
                                   &doorman->due);
        else
            pthread_cond_wait(&doorman->wake, &doorman->mutex);
    }
    doorman->busy = task != TASK_END;
    pthread_mutex_unlock(&doorman->mutex);
    return task;
}

static void rest(struct Doorman *doorman, bool traced)
{
    pthread_mutex_lock(&doorman->mutex);
    doorman->busy = false;
    doorman->traced = traced;
    pthread_cond_broadcast(&doorman->rests);
    pthread_mutex_unlock(&doorman->mutex);
}

// --- The thread ------------------------------------------------------------

// "why" of the exception that is set, and clears it.
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

static void arm(struct Doorman *doorman)
{
    PyObject *result = PyObject_CallNoArgs(doorman->arm);
    char why[512];

    if (result) {
        Py_DECREF(result);
        rest(doorman, true);
        return;
    }
    take_words(why, sizeof why);
    // They are told and sent away; the next one who comes is a new occasion.
    Py_BEGIN_ALLOW_THREADS;
    Server_refuse(doorman->door.server, EBUSY, why);
    rest(doorman, false);
    Py_END_ALLOW_THREADS;
}

static void run(void *context)
{
    struct Doorman *doorman = context;
    PyThreadState *state = doorman->thread_state;
    enum Task task;

    Attach_begin(state);
    do {
        Py_BEGIN_ALLOW_THREADS;
        task = wait_for_task(doorman);
        Py_END_ALLOW_THREADS;
        if (task == TASK_ARM) {
            arm(doorman);
        } else if (task == TASK_DISARM) {
            doorman->disarm();
            doorman->armed = false;
            rest(doorman, false);
        }
    } while (task != TASK_END);
    Attach_end(state);
}

static void ring(struct Doorman *doorman)
{
    pthread_cond_signal(&doorman->wake);
}

static void count(void *context, unsigned viewers)
{
    struct Doorman *doorman = context;

    pthread_mutex_lock(&doorman->mutex);
    doorman->viewers = viewers;
    doorman->leaving &= !viewers; // the grace time begins anew
    ring(doorman);
    pthread_mutex_unlock(&doorman->mutex);
}

// --- The others' side ------------------------------------------------------

bool Doorman_is_here(const struct Doorman *doorman)
{
    return doorman->worker.started && doorman->worker.tid == gettid();
}

static void make_locks(struct Doorman *doorman)
{
    pthread_condattr_t monotonic;

    pthread_mutex_init(&doorman->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&doorman->wake, &monotonic);
    pthread_cond_init(&doorman->rests, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void Doorman_init(struct Doorman *doorman, pthread_mutex_t *ending)
{
    doorman->ending = ending;
    doorman->door.viewers = count;
    doorman->door.context = doorman;
    make_locks(doorman);
}

int Doorman_resume(struct Doorman *doorman)
{
    if (!doorman->door.server || doorman->worker.started)
        return 0;
    doorman->stop = false;
    doorman->worker.name = "ocular-doorman";
    doorman->worker.run = run;
    doorman->worker.context = doorman;
    return Attach_start(&doorman->worker, &doorman->thread_state,
                        doorman->interpreter);
}

int Doorman_open(struct Doorman *doorman, double grace_s)
{
    char why[1024];
    int error;

    if (doorman->door.server)
        return 0;
    doorman->interpreter = PyInterpreterState_Get();
    doorman->grace_s = grace_s;
    doorman->viewers = 0;
    error = Door_open(&doorman->door, why, sizeof why);
    if (error) {
        PyErr_SetString(
            error == -ENOMEM ? PyExc_MemoryError : PyExc_RuntimeError, why);
        return -1;
    }
    error = Doorman_resume(doorman);
    if (!error)
        return 0;
    Door_close(&doorman->door);
    PyErr_Format(PyExc_RuntimeError, "cannot start a thread: %s",
                 strerror(-error));
    return -1;
}

void Doorman_pause(struct Doorman *doorman)
{
    if (!doorman->worker.started || Doorman_is_here(doorman))
        return;
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&doorman->mutex);
    doorman->stop = true;
    ring(doorman);
    pthread_mutex_unlock(&doorman->mutex);
    Worker_join(&doorman->worker);
    Py_END_ALLOW_THREADS;
    doorman->thread_state = NULL; // ended with its thread
}

void Doorman_close(struct Doorman *doorman)
{
    Doorman_pause(doorman);
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(doorman->ending);
    Door_close(&doorman->door);
    pthread_mutex_unlock(doorman->ending);
    Py_END_ALLOW_THREADS;
}

void Doorman_hold(struct Doorman *doorman)
{
    if (Doorman_is_here(doorman))
        return;
    Py_BEGIN_ALLOW_THREADS;
    pthread_mutex_lock(&doorman->mutex);
    doorman->held++;
    while (doorman->busy)
        pthread_cond_wait(&doorman->rests, &doorman->mutex);
    pthread_mutex_unlock(&doorman->mutex);
    Py_END_ALLOW_THREADS;
}

void Doorman_let_go(struct Doorman *doorman, bool traced)
{
    if (Doorman_is_here(doorman))
        return;
    doorman->armed &= traced;
    pthread_mutex_lock(&doorman->mutex);
    // Nobody does in a child that was forked meanwhile: Doorman_abandon.
    doorman->held -= doorman->held > 0;
    doorman->traced = traced;
    ring(doorman);
    pthread_mutex_unlock(&doorman->mutex);
}

bool Doorman_abandon(struct Doorman *doorman)
{
    bool open = doorman->door.server != NULL;

    if (open)
        Server_abandon(doorman->door.server);
    doorman->door.server = NULL;
    memset(&doorman->worker, 0, sizeof doorman->worker);
    doorman->thread_state = NULL;
    doorman->armed = doorman->busy = doorman->traced = doorman->leaving = false;
    doorman->held = 0;
    make_locks(doorman);
    return open;
}
