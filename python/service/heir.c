// SPDX-License-Identifier: MIT
// The forked child's own session, a moment after the fork; see the header.
#include "python/service/heir.h"
#include "python/service/attach.h"

#include <string.h>
#include <unistd.h>

#define DELAY_MS 100

// Whether it is due; false: it was told to stop.
static bool wait_until_due(struct Heir *heir)
{
    bool stop;

    pthread_mutex_lock(&heir->mutex);
    while (!heir->stop &&
           pthread_cond_timedwait(&heir->wake, &heir->mutex, &heir->due) == 0)
        ;
    stop = heir->stop;
    pthread_mutex_unlock(&heir->mutex);
    return !stop;
}

static void start_session(struct Heir *heir)
{
    PyObject *error = PyErr_GetRaisedException();

    if (heir->pending) {
        heir->pending = false;
        Py_XDECREF(PyObject_CallOneArg(heir->start,
                                       heir->traces ? Py_True : Py_False));
    }
    PyErr_SetRaisedException(error); // clears what the start has raised
}

static void run(void *context)
{
    struct Heir *heir = context;
    PyThreadState *state = heir->thread_state;
    bool due = wait_until_due(heir);

    Attach_begin(state);
    if (due)
        start_session(heir);
    // It ends here: the next one may have its address.
    heir->thread_state = NULL;
    Attach_end(state);
}

bool Heir_is_here(const struct Heir *heir)
{
    return heir->worker.started && heir->worker.tid == gettid();
}

static void end_thread(struct Heir *heir)
{
    // It starts the session, and calls what ends with us.
    if (!heir->worker.started || Heir_is_here(heir))
        return;
    pthread_mutex_lock(&heir->mutex);
    heir->stop = true;
    pthread_cond_signal(&heir->wake);
    pthread_mutex_unlock(&heir->mutex);
    Py_BEGIN_ALLOW_THREADS;
    Worker_join(&heir->worker);
    Py_END_ALLOW_THREADS;
}

void Heir_plan(struct Heir *heir, bool serves, bool traces)
{
    pthread_condattr_t monotonic;

    heir->interpreter = PyInterpreterState_Get();
    pthread_mutex_init(&heir->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&heir->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    clock_gettime(CLOCK_MONOTONIC, &heir->due);
    heir->due.tv_nsec += DELAY_MS * 1000000L;
    if (heir->due.tv_nsec >= 1000000000L) {
        heir->due.tv_nsec -= 1000000000L;
        heir->due.tv_sec++;
    }
    heir->pending = heir->start != NULL;
    heir->serves = serves;
    heir->traces = traces;
    Heir_resume(heir);
}

void Heir_pause(struct Heir *heir)
{
    end_thread(heir);
}

int Heir_resume(struct Heir *heir)
{
    if (!heir->pending || heir->worker.started)
        return 0;
    heir->stop = false;
    heir->worker.name = "ocular-heir";
    heir->worker.run = run;
    heir->worker.context = heir;
    return Attach_start(&heir->worker, &heir->thread_state, heir->interpreter);
}

void Heir_cancel(struct Heir *heir)
{
    heir->pending = false;
    end_thread(heir);
}

void Heir_cancel_trace(struct Heir *heir)
{
    heir->traces = false;
    if (!heir->pending || !heir->serves)
        Heir_cancel(heir);
}

void Heir_cancel_serving(struct Heir *heir)
{
    heir->serves = false;
    if (!heir->pending || !heir->traces)
        Heir_cancel(heir);
}

void Heir_hurry(struct Heir *heir)
{
    if (heir->pending)
        start_session(heir);
}

void Heir_abandon(struct Heir *heir)
{
    memset(&heir->worker, 0, sizeof heir->worker);
    heir->thread_state = NULL;
}
