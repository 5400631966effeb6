// SPDX-License-Identifier: MIT
// The thread ("ocular-collect") that drains rings into the timeline, builds
// snapshots and listings when somebody wants one, publishes them, and frees
// retired code and ended lanes after a grace period. It never touches a Python
// object.
#ifndef OCULAR_TRACER_SESSION_COLLECTOR_H
#define OCULAR_TRACER_SESSION_COLLECTOR_H

#include "ipc/base/worker.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct Session;

struct Collector {
    struct Session *session;
    struct Worker worker;
    pthread_mutex_t mutex; // guards running, wanted and done
    pthread_cond_t built;  // a snapshot is done, or none will be
    bool running;
    uint64_t wanted;          // snapshots asked for
    uint64_t done;            // snapshots built
    double built_s;           // when the newest was; the thread's
    pthread_mutex_t draining; // one at a time
};

void Collector_init(struct Collector *collector, struct Session *session);
int Collector_start(struct Collector *collector); // 0 or -errno; once is enough
void Collector_stop(struct Collector *collector); // joins; may start again
// Asks for a fresh snapshot; returns at once. Any thread.
void Collector_want(struct Collector *collector);
// Asks for one and waits, at most timeout_ms. 0, -ETIMEDOUT, or -ESHUTDOWN: the
// thread does not run.
int Collector_wait(struct Collector *collector, unsigned timeout_ms);
// Moves what is in the rings into the timeline, and the names of what was
// retired to where they are kept: all of it, when it returns. What the thread
// does each time; any other may, but not with the interpreter's lock.
void Collector_drain(struct Collector *collector);
// The same, then builds a snapshot and publishes it. The thread, or whoever has
// stopped it.
void Collector_build(struct Collector *collector);

#endif
