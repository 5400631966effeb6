// SPDX-License-Identifier: MIT
// The thread ("ocular-collect") that sleeps until somebody wants a snapshot or
// something is due, has that done, and wakes the threads that wait for it. Its
// work is in collect.h.
#ifndef OCULAR_TRACER_SESSION_COLLECTOR_H
#define OCULAR_TRACER_SESSION_COLLECTOR_H

#include "ipc/base/worker.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

// The work on the thread, which holds no lock of its own meanwhile.
struct CollectorWork {
    void *context;
    sem_t *due; // posted when there is something to do
    // Milliseconds until there is, unless that is posted; at most `most`.
    unsigned (*pause_ms)(void *context, unsigned most);
    // One turn. `wanted`: a snapshot is to be built.
    void (*turn)(void *context, bool wanted);
};

struct Collector {
    struct CollectorWork work;
    struct Worker worker;
    pthread_mutex_t mutex; // guards running, wanted and done
    pthread_cond_t built;  // a snapshot is done, or none will be
    bool running;
    uint64_t wanted; // snapshots asked for
    uint64_t done;   // snapshots built
};

void Collector_init(struct Collector *collector,
                    const struct CollectorWork *work);
int Collector_start(struct Collector *collector); // 0 or -errno; once is enough
void Collector_stop(struct Collector *collector); // joins; may start again
// Asks for a fresh snapshot; returns at once. Any thread.
void Collector_want(struct Collector *collector);
// Asks for one and waits, at most timeout_ms. 0, -ETIMEDOUT, or -ESHUTDOWN: the
// thread does not run.
int Collector_wait(struct Collector *collector, unsigned timeout_ms);

#endif
