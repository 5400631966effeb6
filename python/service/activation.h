// SPDX-License-Identifier: MIT
// Idle serving: a socket where viewers may come at any time, and no tracing
// until one does. A thread ("ocular-activate") sleeps until the first viewer is
// there, attaches to the interpreter and has a session started, and stopped
// some seconds after the last viewer has left. Interpreter's lock held
// everywhere but where the server counts viewers (count, activation.c).
#ifndef OCULAR_PYTHON_SERVICE_ACTIVATION_H
#define OCULAR_PYTHON_SERVICE_ACTIVATION_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ipc/base/worker.h"
#include "tracer/session/persistent_server.h"

#include <stdbool.h>
#include <time.h>

struct Activation {
    // Its server NULL: this process does not serve idly.
    struct PersistentServer persistent;
    PyObject *arm;           // what starts the session: the package's
    void (*disarm)(void);    // and what stops it
    pthread_mutex_t *ending; // held while a server goes; see Engine
    PyInterpreterState *interpreter;
    PyThreadState *thread_state; // NULL: no thread
    struct Worker worker;
    bool armed; // the session is one that the activation thread has started.
                // Written with the interpreter's lock, by its thread or who
                // holds it: its thread reads it while nobody does
    pthread_mutex_t mutex; // guards the rest
    pthread_cond_t wake;   // something to do has come up
    pthread_cond_t rests;  // busy no more
    unsigned viewers;
    unsigned held; // by how many that start and stop themselves
    bool stop;
    bool busy;   // it is starting or stopping a session
    bool traced; // whoever started it
    bool leaving;
    double grace_s;
    struct timespec due; // when it disarms, while leaving; CLOCK_MONOTONIC
};

void Activation_init(struct Activation *activation, pthread_mutex_t *ending);
// Opens the server, and disarms so long after the last viewer has left: 0,
// or -1 with an exception. Nothing if it is open.
int Activation_open(struct Activation *activation, double grace_s);
// Closes it; no session runs. Releases the lock.
void Activation_close(struct Activation *activation);
// Sessions are started and stopped between these two calls, and the activation
// thread does neither meanwhile. The first may release the lock. `traced`:
// does a session run now?
void Activation_hold(struct Activation *activation);
void Activation_let_go(struct Activation *activation, bool traced);
// For a fork: the thread finishes its work and ends (the lock is released
// meanwhile), and Activation_resume starts it again: 0 or -errno. This does not
// touch its server, which is paused with the session, or alone.
void Activation_pause(struct Activation *activation);
// Its thread ends if the guard of the time stamp counter has tripped, without
// the lock.
void Activation_end(struct Activation *activation);
int Activation_resume(struct Activation *activation);
// After a fork, in the child: neither thread nor socket are there. True: it was
// open.
bool Activation_abandon(struct Activation *activation);
// Is this thread the activation thread?
bool Activation_is_here(const struct Activation *activation);

#endif
