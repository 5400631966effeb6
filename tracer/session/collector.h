// SPDX-License-Identifier: MIT
// struct Collector runs the collector's thread ("ocular-collect"). This thread
// sleeps until another thread asks for a snapshot or other work is due. After
// the work (collect.h) it wakes the threads that wait for it.
#ifndef OCULAR_TRACER_SESSION_COLLECTOR_H
#define OCULAR_TRACER_SESSION_COLLECTOR_H

#include "ipc/base/worker.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

// The work of the collector's thread. The thread calls `turn` without holding
// the collector's mutex.
struct CollectorWork {
    void *context;
    sem_t *due; // Posted if there is something to do.
    // Returns the milliseconds until work is due, at most `most`. The thread
    // sleeps for this time unless `due` is posted.
    unsigned (*pause_ms)(void *context, unsigned most);
    // Does one turn of work. `wanted` is true if a snapshot must be built.
    void (*turn)(void *context, bool wanted);
};

struct Collector {
    struct CollectorWork work;
    struct Worker worker;
    pthread_mutex_t mutex; // Guards `running`, `wanted` and `done`.
    // Signalled when a snapshot is built, or when it is certain that none will
    // be built.
    pthread_cond_t built;
    bool running;
    uint64_t wanted; // Number of snapshots that were asked for.
    uint64_t done;   // Number of snapshots that were built.
};

void Collector_init(struct Collector *collector,
                    const struct CollectorWork *work);
// Starts the thread. Returns 0 or -errno. Does nothing if the thread already
// runs.
int Collector_start(struct Collector *collector);
// Stops the thread and waits until it has ended. Collector_start may start it
// again.
void Collector_stop(struct Collector *collector);
// Asks for a new snapshot and returns at once. Any thread may call this
// function.
void Collector_want(struct Collector *collector);
// Asks for a new snapshot and waits for it, for at most timeout_ms. Returns 0,
// -ETIMEDOUT, or -ESHUTDOWN if the thread does not run.
int Collector_wait(struct Collector *collector, unsigned timeout_ms);

#endif
