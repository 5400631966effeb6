// SPDX-License-Identifier: MIT
// struct Collector runs the collector's thread ("ocular-collect"). The
// collector's thread sleeps until another thread asks for a snapshot or other
// work is due. After its work (collect.h), the collector's thread wakes the
// threads that wait for a snapshot.
#pragma once

#include "ipc/base/worker.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

// The work of the collector's thread. The thread calls `turn` without holding
// the collector's mutex.
struct CollectorWork {
    void *context;
    // A semaphore that other threads post if the collector has something to do.
    sem_t *due;
    // Returns the milliseconds until work is due, at most `most`. The
    // collector's thread sleeps for this time unless `due` is posted.
    unsigned (*pause_ms)(void *context, unsigned most);
    // Does one round of the collector's work. `wanted` is true if a snapshot
    // must be built.
    void (*turn)(void *context, bool wanted);
};

struct Collector {
    struct CollectorWork work;
    struct Worker worker;
    pthread_mutex_t mutex; // Guards `running`, `wanted` and `done`.
    // Signalled when a snapshot is built, or when none will be built any more.
    pthread_cond_t built;
    bool running;
    uint64_t wanted; // Number of snapshots that were asked for.
    uint64_t done;   // Number of snapshots that were built.
};

void Collector_init(struct Collector *collector,
                    const struct CollectorWork *work);
// Starts the collector's thread. Returns 0 or -errno. If the thread already
// runs, does nothing.
int Collector_start(struct Collector *collector);
// Stops the collector's thread and waits until it has ended. Collector_start
// may start the thread again.
void Collector_stop(struct Collector *collector);
// Asks for a new snapshot and returns at once. Any thread may call
// Collector_want.
void Collector_want(struct Collector *collector);
// Asks for a new snapshot and waits for it, for at most `timeout_ms`
// milliseconds. Returns 0, -ETIMEDOUT, or -ESHUTDOWN if the collector's thread
// does not run.
int Collector_wait(struct Collector *collector, unsigned timeout_ms);
