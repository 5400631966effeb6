// SPDX-License-Identifier: MIT
#include "tracer/session/collector.h"
#include "ipc/base/now.h"
#include "tracer/base/rcu.h"

#include <errno.h>
#include <string.h>

// The collector's thread sleeps for at most this time in ms. A request or a
// half-full ring of hits wakes the thread sooner.
#define PAUSE_MS 1000
#define STACK_BYTES (256u << 10)

// Does one round (turn) of the collector's work. The caller holds the
// collector's mutex before and after the call.
static void turn(struct Collector *collector)
{
    const struct CollectorWork *work = &collector->work;
    struct timespec due = Now_in_ms(work->pause_ms(work->context, PAUSE_MS));
    uint64_t wanted;

    if (collector->wanted == collector->done) {
        pthread_mutex_unlock(&collector->mutex);
        sem_clockwait(work->due, CLOCK_MONOTONIC, &due);
        pthread_mutex_lock(&collector->mutex);
    }
    while (sem_trywait(work->due) == 0)
        // One turn of the collector serves all threads that have posted `due`.
        ;
    wanted = collector->wanted;
    pthread_mutex_unlock(&collector->mutex);
    work->turn(work->context, wanted != collector->done);
    pthread_mutex_lock(&collector->mutex);
    collector->done = wanted;
    pthread_cond_broadcast(&collector->built);
}

static void run(void *context)
{
    struct Collector *collector = context;

    pthread_mutex_lock(&collector->mutex);
    while (collector->running)
        turn(collector);
    pthread_mutex_unlock(&collector->mutex);
}

// --- What other threads call -----------------------------------------------

void Collector_init(struct Collector *collector,
                    const struct CollectorWork *work)
{
    memset(collector, 0, sizeof *collector);
    collector->work = *work;
    pthread_mutex_init(&collector->mutex, NULL);
    pthread_cond_init(&collector->built, NULL);
}

int Collector_start(struct Collector *collector)
{
    int error = 0;

    pthread_mutex_lock(&collector->mutex);
    collector->worker.prepare = Rcu_register;
    if (!collector->running)
        error = Worker_start(&collector->worker, "ocular-collect", run,
                             collector, STACK_BYTES);
    collector->running = error == 0;
    pthread_mutex_unlock(&collector->mutex);
    return error;
}

void Collector_stop(struct Collector *collector)
{
    pthread_mutex_lock(&collector->mutex);
    collector->running = false;
    sem_post(collector->work.due);
    pthread_cond_broadcast(&collector->built);
    pthread_mutex_unlock(&collector->mutex);
    Worker_join(&collector->worker);
}

void Collector_want(struct Collector *collector)
{
    pthread_mutex_lock(&collector->mutex);
    collector->wanted++;
    sem_post(collector->work.due);
    pthread_mutex_unlock(&collector->mutex);
}

int Collector_wait(struct Collector *collector, unsigned timeout_ms)
{
    struct timespec due = Now_in_ms(timeout_ms);
    uint64_t goal;
    int error = 0;

    pthread_mutex_lock(&collector->mutex);
    goal = ++collector->wanted;
    sem_post(collector->work.due);
    while (!error && collector->done < goal)
        error =
            collector->running
                ? pthread_cond_clockwait(&collector->built, &collector->mutex,
                                         CLOCK_MONOTONIC, &due)
                : ESHUTDOWN;
    pthread_mutex_unlock(&collector->mutex);
    return -error;
}
