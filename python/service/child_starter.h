// SPDX-License-Identifier: MIT
// Starts a session in a forked child if viewers could connect to the parent.
// The session starts 100 ms after the fork, so that a child that calls exec or
// ends at once has no cost. Callers hold the GIL.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ipc/base/worker.h"

#include <stdbool.h>
#include <time.h>

struct ChildStarter {
    PyObject *start; // The package's function that starts the session.
    // Fork_settle, which frees the parent's session before the start.
    void (*settle)(void);
    bool pending; // True while the session is planned and has not started.
    // True if the child waits for viewers without tracing, as the parent did
    // (activation.h).
    bool serves;
    // True if the child traces at once, because viewers could connect to the
    // parent's own trace.
    bool traces;
    struct timespec due; // Time of CLOCK_MONOTONIC at which to start.
    // "ocular-child", which waits and then starts the session
    struct Worker worker;
    PyInterpreterState *interpreter;
    PyThreadState *thread_state; // NULL if the thread does not run.
    pthread_mutex_t mutex;       // Guards `stop`.
    pthread_cond_t wake;
    bool stop;
};

// Plans the session and starts the thread. If the thread cannot start, the
// first call of Ocular that needs the session starts it. The C library's fork
// handler calls this function, too.
void ChildStarter_plan(struct ChildStarter *starter, bool serves, bool traces);
// Before a fork, ChildStarter_pause releases the GIL and ends the thread.
// ChildStarter_resume starts the thread again and returns 0 or -errno.
// ChildStarter_pause and ChildStarter_resume do not change the plan.
void ChildStarter_pause(struct ChildStarter *starter);
int ChildStarter_resume(struct ChildStarter *starter);
// Cancels the plan and waits for the thread. If the session is starting, the
// start completes.
void ChildStarter_cancel(struct ChildStarter *starter);
// ChildStarter_cancel_trace cancels only the plan to trace, and
// ChildStarter_cancel_serving only the plan to serve.
void ChildStarter_cancel_trace(struct ChildStarter *starter);
void ChildStarter_cancel_serving(struct ChildStarter *starter);
// Starts a planned session now. Drops errors, because the program did not ask
// for this session.
void ChildStarter_hurry(struct ChildStarter *starter);
// Forgets the thread in a forked child. The plan stays.
void ChildStarter_abandon(struct ChildStarter *starter);
