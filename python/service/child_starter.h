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
    // True if the child is to wait for viewers without tracing, as the parent
    // did (activation.h). False after that.
    bool serves;
    // True if the child is to trace at once, because viewers could connect to
    // the parent's own trace. False after that.
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

static inline bool ChildStarter_has_plan(const struct ChildStarter *starter)
{
    return starter->serves || starter->traces;
}

// Begins in a forked child. Forgets the parent's thread, and stores whether the
// parent served and whether viewers could connect to its own trace. If the
// parent had a plan itself, the child gets this plan, too.
void ChildStarter_inherit(struct ChildStarter *starter, bool serves,
                          bool traces);
// Plans the session and starts the thread, unless viewers could not connect to
// the parent. If the thread cannot start, the first call of Ocular that needs
// the session starts it. The C library's fork handler calls this function, too.
void ChildStarter_plan(struct ChildStarter *starter);
// Before a fork, ChildStarter_pause releases the GIL and ends the thread.
// ChildStarter_resume starts the thread again and returns 0 or -errno.
// ChildStarter_pause and ChildStarter_resume do not change the plan.
void ChildStarter_pause(struct ChildStarter *starter);
int ChildStarter_resume(struct ChildStarter *starter);
// ChildStarter_cancel_trace cancels only the plan to trace, and
// ChildStarter_cancel_serving only the plan to serve. If nothing else is
// planned, they wait for the thread. If the session is starting, the start
// completes.
void ChildStarter_cancel_trace(struct ChildStarter *starter);
void ChildStarter_cancel_serving(struct ChildStarter *starter);
// Starts a planned session now. Drops errors, because the program did not ask
// for this session.
void ChildStarter_hurry(struct ChildStarter *starter);
