// SPDX-License-Identifier: MIT
// Idle serving: viewers can connect at any time, and nothing is traced until
// one does. The thread "ocular-activate" sleeps until the first viewer
// connects, takes the GIL and has a session started. The thread has the session
// stopped some seconds after the last viewer has left. Callers hold the GIL,
// except the server that counts viewers (count, activation.c).
#ifndef OCULAR_PYTHON_SERVICE_ACTIVATION_H
#define OCULAR_PYTHON_SERVICE_ACTIVATION_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ipc/base/worker.h"
#include "tracer/session/persistent_server.h"

#include <stdbool.h>
#include <time.h>

struct Activation {
    // persistent.server is NULL if this process does not serve idly.
    struct PersistentServer persistent;
    PyObject *arm;           // the package's function that starts the session
    void (*disarm)(void);    // stops the session
    pthread_mutex_t *ending; // held while a server closes; see Engine
    PyInterpreterState *interpreter;
    PyThreadState *thread_state; // NULL if the thread does not run
    struct Worker worker;
    // True if the activation thread has started the session. Written with the
    // GIL held, by the activation thread or between Activation_hold and
    // Activation_let_go. The activation thread reads it without the GIL, but
    // not between these two calls.
    bool armed;
    pthread_mutex_t mutex; // guards all members below
    pthread_cond_t wake;   // signalled if there may be work
    pthread_cond_t rests;  // broadcast when `busy` becomes false
    unsigned viewers;
    unsigned held; // calls of Activation_hold not yet undone
    bool stop;
    bool busy;   // the thread starts or stops a session
    bool traced; // a session runs, started by anybody
    bool leaving;
    double grace_s;
    struct timespec due; // when to stop, if leaving; CLOCK_MONOTONIC
};

void Activation_init(struct Activation *activation, pthread_mutex_t *ending);
// Opens the server and starts the thread. A session is stopped `grace_s`
// seconds after the last viewer has left. Returns 0, or -1 with an exception.
// Does nothing if the server is open.
int Activation_open(struct Activation *activation, double grace_s);
// Ends the thread and closes the server. No session may run. Releases the GIL
// while it waits.
void Activation_close(struct Activation *activation);
// Between Activation_hold and Activation_let_go the caller starts and stops
// sessions, and the activation thread does not. Activation_hold may release the
// GIL. `traced` says whether a session runs now.
void Activation_hold(struct Activation *activation);
void Activation_let_go(struct Activation *activation, bool traced);
// For a fork: the thread finishes its work and ends, and the GIL is released
// meanwhile. Activation_resume starts the thread again and returns 0 or -errno.
// Neither function pauses the server, which is paused with the session or by
// itself.
void Activation_pause(struct Activation *activation);
// Tells the thread to end after the guard of the time stamp counter has
// tripped. Needs no GIL and does not wait.
void Activation_end(struct Activation *activation);
int Activation_resume(struct Activation *activation);
// Forgets thread and socket in the child of a fork. Returns true if the server
// was open.
bool Activation_abandon(struct Activation *activation);
// Returns true on the activation thread.
bool Activation_is_here(const struct Activation *activation);

#endif
