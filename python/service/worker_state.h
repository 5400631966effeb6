// SPDX-License-Identifier: MIT
// A Python thread state for a thread of ours.
//
// It is made by the thread that starts ours, with the interpreter's lock: the
// memory that Python hands out without it goes through tracemalloc, which
// crashes if it is stopped meanwhile (gh-128679, up to 3.13.1).
#ifndef OCULAR_PYTHON_SERVICE_WORKER_STATE_H
#define OCULAR_PYTHON_SERVICE_WORKER_STATE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ipc/base/worker.h"

#define ATTACH_STACK_BYTES (1u << 20) // Python code runs on it

// Starts a thread with a thread state of its own, *thread_state. 0 or -errno.
// Interpreter's lock held.
int WorkerState_start(struct Worker *worker, PyThreadState **thread_state,
                      PyInterpreterState *interpreter);
// On that thread, first: waits for the lock, and takes the state over. It holds
// the lock then.
void WorkerState_begin(PyThreadState *thread_state);
// On that thread, later on: waits for the lock, and lets go of it. A fork in C
// waits until no thread of ours is between the two (fork.c).
void WorkerState_take(PyThreadState *thread_state);
void WorkerState_leave(void);
// On that thread, last, the lock held: the state goes, and with it the lock.
void WorkerState_end(PyThreadState *thread_state);

#endif
