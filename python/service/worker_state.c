// SPDX-License-Identifier: MIT
#include "python/service/worker_state.h"
#include "python/hooks/state.h"

#include <errno.h>

int WorkerState_start(struct Worker *worker, PyThreadState **thread_state,
                      PyInterpreterState *interpreter)
{
    int error;

    *thread_state = PyThreadState_New(interpreter);
    if (!*thread_state)
        return -ENOMEM;
    error = Worker_start(worker, worker->name, worker->run, worker->context,
                         ATTACH_STACK_BYTES);
    if (error) {
        PyThreadState_Clear(*thread_state);
        PyThreadState_Delete(*thread_state);
        *thread_state = NULL;
    }
    return error;
}

void WorkerState_take(PyThreadState *thread_state)
{
    pthread_rwlock_rdlock(&ocular_state.attached);
    PyEval_RestoreThread(thread_state);
}

void WorkerState_leave(void)
{
    PyEval_SaveThread();
    pthread_rwlock_unlock(&ocular_state.attached);
}

void WorkerState_begin(PyThreadState *thread_state)
{
    WorkerState_take(thread_state);
    // PyThreadState_New has stored the ids of the thread that called it.
    thread_state->thread_id = PyThread_get_thread_ident();
    thread_state->native_thread_id = PyThread_get_thread_native_id();
}

void WorkerState_end(PyThreadState *thread_state)
{
    PyThreadState_Clear(thread_state);
    PyThreadState_DeleteCurrent();
    pthread_rwlock_unlock(&ocular_state.attached);
}
