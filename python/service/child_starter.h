// SPDX-License-Identifier: MIT
// Starts a session in a forked child if the parent was served. The session
// starts 100 ms after the fork, so that a child which calls exec or ends at
// once pays nothing. Callers hold the GIL.
#ifndef OCULAR_PYTHON_SERVICE_CHILD_STARTER_H
#define OCULAR_PYTHON_SERVICE_CHILD_STARTER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ipc/base/worker.h"

#include <stdbool.h>
#include <time.h>

struct ChildStarter {
    PyObject *start;      // the package's function that starts the session
    void (*settle)(void); // frees the parent's session first (Fork_settle)
    bool pending;         // the session is planned and not started yet
    bool serves;          // serve idly, as the parent did (activation.h)
    bool traces;          // trace at once: the parent's own trace was served
    struct timespec due;  // when to start; CLOCK_MONOTONIC
    struct Worker worker; // "ocular-child": waits, then starts the session
    PyInterpreterState *interpreter;
    PyThreadState *thread_state; // NULL if the thread does not run
    pthread_mutex_t mutex;       // guards stop
    pthread_cond_t wake;
    bool stop;
};

// Plans the session and starts the thread. If the thread cannot start, the
// first call that needs the session starts it. The C library's fork handler
// calls this, too.
void ChildStarter_plan(struct ChildStarter *starter, bool serves, bool traces);
// For a fork: the thread ends, and the GIL is released meanwhile.
// ChildStarter_resume starts the thread again and returns 0 or -errno. Neither
// function changes the plan.
void ChildStarter_pause(struct ChildStarter *starter);
int ChildStarter_resume(struct ChildStarter *starter);
// Cancels the plan and waits for the thread. A start that is under way
// completes.
void ChildStarter_cancel(struct ChildStarter *starter);
// Cancel one half of the plan and keep the other half.
void ChildStarter_cancel_trace(struct ChildStarter *starter);
void ChildStarter_cancel_serving(struct ChildStarter *starter);
// Returns true on the child starter's thread.
bool ChildStarter_is_here(const struct ChildStarter *starter);
// Starts a planned session now. Drops errors, since the program did not ask for
// this session.
void ChildStarter_hurry(struct ChildStarter *starter);
// Forgets the thread in the child of a fork. The plan stays.
void ChildStarter_abandon(struct ChildStarter *starter);

#endif
