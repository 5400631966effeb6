// SPDX-License-Identifier: MIT
// Makes a Python thread state for a thread of Ocular.
//
// The thread that starts a thread of Ocular makes the thread state, with the
// GIL held. Without the GIL the allocation may call tracemalloc. Up to 3.13.1
// tracemalloc crashes if another thread stops it during the allocation
// (gh-128679).
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ipc/base/worker.h"

#define ATTACH_STACK_BYTES (1u << 20) // enough for Python code

// Makes *thread_state and starts the thread that will use the thread state.
// Returns 0 or -errno. The caller holds the GIL.
int WorkerState_start(struct Worker *worker, PyThreadState **thread_state,
                      PyInterpreterState *interpreter);
// The new thread calls WorkerState_begin first. WorkerState_begin takes the GIL
// and makes the thread state the thread's own.
void WorkerState_begin(PyThreadState *thread_state);
// The thread takes the GIL with WorkerState_take and releases it with
// WorkerState_leave. A fork in C waits until no thread of Ocular is between
// WorkerState_take and WorkerState_leave (fork.c).
void WorkerState_take(PyThreadState *thread_state);
void WorkerState_leave(void);
// The thread calls WorkerState_end last, with the GIL held. WorkerState_end
// deletes the thread state and releases the GIL.
void WorkerState_end(PyThreadState *thread_state);
