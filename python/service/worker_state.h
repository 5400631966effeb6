// SPDX-License-Identifier: MIT
// The Python thread state of one of our threads.
//
// The thread that starts ours makes the thread state, with the GIL held.
// Without the GIL its memory may come from tracemalloc, which crashes if it is
// stopped meanwhile (gh-128679, up to 3.13.1).
#ifndef OCULAR_PYTHON_SERVICE_WORKER_STATE_H
#define OCULAR_PYTHON_SERVICE_WORKER_STATE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ipc/base/worker.h"

#define ATTACH_STACK_BYTES (1u << 20) // Python code runs on it

// Makes *thread_state and starts the thread that is to use it. Returns 0 or
// -errno. The caller holds the GIL.
int WorkerState_start(struct Worker *worker, PyThreadState **thread_state,
                      PyInterpreterState *interpreter);
// The new thread calls this first. Takes the GIL and makes the thread state its
// own.
void WorkerState_begin(PyThreadState *thread_state);
// The thread takes the GIL with WorkerState_take and releases it with
// WorkerState_leave. A fork in C waits until none of our threads is between the
// two calls (fork.c).
void WorkerState_take(PyThreadState *thread_state);
void WorkerState_leave(void);
// The thread calls this last, with the GIL held. Deletes the thread state and
// releases the GIL.
void WorkerState_end(PyThreadState *thread_state);

#endif
