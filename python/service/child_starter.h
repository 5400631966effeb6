// SPDX-License-Identifier: MIT
// In the child of a fork that was served: starts a session of the child's own,
// a moment later, so that a child which executes another program or ends at
// once pays nothing. Interpreter's lock held everywhere.
#ifndef OCULAR_PYTHON_SERVICE_CHILD_STARTER_H
#define OCULAR_PYTHON_SERVICE_CHILD_STARTER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ipc/base/worker.h"

#include <stdbool.h>
#include <time.h>

struct ChildStarter {
    PyObject *start;      // what starts the session: the package's
    void (*settle)(void); // lets the parent's go first (fork.h)
    bool pending;         // it has not been started yet
    bool serves;          // idly: the parent did (activation.h)
    bool traces;          // at once: the parent's own trace was served
    struct timespec due;  // CLOCK_MONOTONIC
    struct Worker worker; // "ocular-child": waits, then starts it
    PyInterpreterState *interpreter;
    PyThreadState *thread_state; // NULL: no thread
    pthread_mutex_t mutex;       // guards stop
    pthread_cond_t wake;
    bool stop;
};

// The session is to start by itself. Without a thread, it starts with the first
// call that wants it. Also by the C library's fork handler, for a thread that
// has the lock.
void ChildStarter_plan(struct ChildStarter *starter, bool serves, bool traces);
// For a fork: the thread ends (the lock is released meanwhile), and goes on: 0
// or -errno. Whether it is planned stays.
void ChildStarter_pause(struct ChildStarter *starter);
int ChildStarter_resume(struct ChildStarter *starter);
// Nothing starts by itself any more; what was about to, is through.
void ChildStarter_cancel(struct ChildStarter *starter);
// The same for one half of the plan; the other stays.
void ChildStarter_cancel_trace(struct ChildStarter *starter);
void ChildStarter_cancel_serving(struct ChildStarter *starter);
// Is this thread the child starter's?
bool ChildStarter_is_here(const struct ChildStarter *starter);
// Starts it now if it is planned. Errors are swallowed: nobody asked for it.
void ChildStarter_hurry(struct ChildStarter *starter);
// After a fork, in the child: the thread is not there. It stays planned.
void ChildStarter_abandon(struct ChildStarter *starter);

#endif
