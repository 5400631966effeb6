// SPDX-License-Identifier: MIT
// The collector's thread ("ocular-collect"). The thread sleeps until somebody
// asks for a snapshot or other work is due, has the work done (collect.h), and
// wakes the threads that wait for it.
#ifndef OCULAR_TRACER_SESSION_COLLECTOR_H
#define OCULAR_TRACER_SESSION_COLLECTOR_H

#include "ipc/base/worker.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

// The work of the thread, which calls `turn` without holding its own lock.
struct CollectorWork {
    void *context;
    sem_t *due; // posted if there is something to do
    // Returns the milliseconds until work is due, at most `most`; the thread
    // sleeps so long unless `due` is posted.
    unsigned (*pause_ms)(void *context, unsigned most);
    // Does one turn of work. `wanted` says that a snapshot must be built.
    void (*turn)(void *context, bool wanted);
};

struct Collector {
    struct CollectorWork work;
    struct Worker worker;
    pthread_mutex_t mutex; // guards running, wanted and done
    pthread_cond_t built;  // signalled if a snapshot is built or none will be
    bool running;
    uint64_t wanted; // number of snapshots asked for
    uint64_t done;   // number of snapshots built
};

void Collector_init(struct Collector *collector,
                    const struct CollectorWork *work);
// Returns 0 or -errno; does nothing if the thread runs.
int Collector_start(struct Collector *collector);
// Joins the thread. Collector_start may start it again.
void Collector_stop(struct Collector *collector);
// Asks for a new snapshot and returns at once. Any thread may call this.
void Collector_want(struct Collector *collector);
// Asks for a new snapshot and waits for it, at most timeout_ms. Returns 0,
// -ETIMEDOUT, or -ESHUTDOWN if the thread does not run.
int Collector_wait(struct Collector *collector, unsigned timeout_ms);

#endif
