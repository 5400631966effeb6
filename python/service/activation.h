// SPDX-License-Identifier: MIT
// Idle serving: viewers can connect at any time, and tracing begins when the
// first viewer connects. The thread "ocular-activate" sleeps until the first
// viewer connects, and then takes the GIL and starts a session. The thread
// stops the session some seconds after the last viewer has left. Callers hold
// the GIL, except the server's thread, which counts viewers (count,
// activation.c).
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ipc/base/worker.h"
#include "tracer/session/persistent_server.h"

#include <stdbool.h>
#include <stdint.h>

struct Activation {
    // persistent.server is NULL if no viewer can connect while nothing is
    // traced.
    struct PersistentServer persistent;
    PyObject *arm;        // The package's function that starts the session.
    void (*disarm)(void); // The function that stops the session.
    // This mutex is locked while a server closes (see engine.h).
    pthread_mutex_t *ending;
    PyInterpreterState *interpreter;
    PyThreadState *thread_state; // NULL if the thread does not run
    struct Worker worker;
    // True if the activation thread has started the session. The activation
    // thread writes `armed` with the GIL held. Other threads write `armed` with
    // the GIL held, between Activation_hold and Activation_let_go. The
    // activation thread reads `armed` without the GIL, but not between these
    // two calls.
    bool armed;
    pthread_mutex_t mutex; // Guards all members that follow.
    pthread_cond_t wake;   // Signalled if there may be work for the thread.
    pthread_cond_t rests;  // Broadcast at the moment `busy` becomes false.
    unsigned viewers;
    unsigned held; // Calls of Activation_hold that were not let go yet.
    bool stop;
    bool busy;   // True while the thread starts or stops a session.
    bool traced; // True while a session runs, whoever started the session.
    bool leaving;
    double grace_s;
    // If `leaving` is true, the time of CLOCK_MONOTONIC at which the session
    // stops.
    uint64_t due_ns;
};

void Activation_init(struct Activation *activation, pthread_mutex_t *ending);
// Opens the server and starts the thread. The thread stops a session `grace_s`
// seconds after the last viewer has left. Returns 0, or -1 with an exception.
// Does nothing if the server is open.
int Activation_open(struct Activation *activation, double grace_s);
// Ends the thread and closes the server. No session may run when this function
// is called. Releases the GIL while it waits.
void Activation_close(struct Activation *activation);
// Between Activation_hold and Activation_let_go only the caller starts and
// stops sessions. Activation_hold may release the GIL. `traced` says whether a
// session runs now.
void Activation_hold(struct Activation *activation);
void Activation_let_go(struct Activation *activation, bool traced);
// Before a fork, Activation_pause releases the GIL and waits until the thread
// has finished its work and ended. Activation_resume starts the thread again
// and returns 0 or -errno. Activation_pause and Activation_resume do not pause
// the server. If a session runs, the server is paused together with the
// session.
void Activation_pause(struct Activation *activation);
// Tells the activation thread to end, without waiting for its end. Called if a
// thread of the program may no longer read the time stamp counter. The caller
// needs no GIL.
void Activation_end(struct Activation *activation);
int Activation_resume(struct Activation *activation);
// Forgets thread and socket in a forked child. Returns true if the server was
// open.
bool Activation_abandon(struct Activation *activation);
