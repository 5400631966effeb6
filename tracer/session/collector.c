// SPDX-License-Identifier: MIT
// The collector's thread: sleeps until somebody wants something or the rings
// are due, and does it. See collector.h.
#include "tracer/session/collector.h"
#include "ipc/base/now.h"
#include "tracer/base/rcu.h"
#include "tracer/session/builder.h"
#include "tracer/session/session.h"

#include <errno.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

// What comes sooner wakes us: a request, a ring that is half full. Else the
// clock is refined, the retired are freed.
#define PAUSE_MS 1000
#define STACK_BYTES (256u << 10)
#define SPARE_S 3.0 // without a snapshot, and no memory is kept for the next

static struct timespec in_ms(unsigned ms)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += (long)(ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_nsec -= 1000000000;
        at.tv_sec++;
    }
    return at;
}

// --- The thread's work -----------------------------------------------------

static void drain_lane(void *context, struct Lane *lane, bool ended)
{
    struct Session *session = context;
    char name[sizeof lane->name];

    if (!lane->ring || !session->timeline)
        return;
    if (!lane->track) {
        Lanes_copy_name(&session->engine->lanes, lane, name);
        lane->track =
            Timeline_begin(session->timeline, lane->number, lane->tid, name);
    }
    if (!lane->track) // memory is out: it is tried again
        return;
    Timeline_drain(session->timeline, lane->track, lane->ring);
    if (ended)
        Timeline_end(session->timeline, lane->track);
}

static void reclaim(struct Session *session)
{
    struct Engine *engine = session->engine;
    // Of what has gone since then there may be samples to come.
    uint64_t collected = session->sampler
                             ? Sampler_collected_ticks(session->sampler)
                             : UINT64_MAX;
    struct Code *code = Registry_take_retired(engine->registry, collected);
    struct Code *next;

    if (!code)
        return;
    Rcu_synchronize();
    for (; code; code = next) {
        next = code->next_retired;
        Retired_add(&session->retired, code);
        if (session->timeline)
            Names_retire(&engine->names, code);
        Code_free(code);
    }
}

static void drain(struct Session *session)
{
    Lanes_visit(&session->engine->lanes, drain_lane, session);
    reclaim(session);
}

void Collector_drain(struct Collector *collector)
{
    pthread_mutex_lock(&collector->draining);
    drain(collector->session);
    pthread_mutex_unlock(&collector->draining);
}

void Collector_build(struct Collector *collector)
{
    struct Session *session = collector->session;
    struct Snapshot *snapshot;

    // Nothing is reclaimed between the drain and the last row: each code object
    // is among the living or the retired, and not in both.
    pthread_mutex_lock(&collector->draining);
    drain(session);
    snapshot = Builder_snapshot(session);
    pthread_mutex_unlock(&collector->draining);
    collector->built_s = Now_s(CLOCK_MONOTONIC);
    if (!snapshot) // memory is out: the one before stays
        return;
    Publish_set(&session->publish, snapshot);
    if (session->server)
        Server_notify(session->server);
}

// Nobody wants a snapshot.
static void rest(struct Collector *collector)
{
    Collector_drain(collector);
    if (Now_s(CLOCK_MONOTONIC) - collector->built_s > SPARE_S)
        Publish_trim(&collector->session->publish);
}

// One turn, with the mutex held on entry and exit.
static void turn(struct Collector *collector)
{
    struct Session *session = collector->session;
    struct timespec due = in_ms(Details_pause_ms(&session->details, PAUSE_MS));
    uint64_t wanted;

    if (collector->wanted == collector->done) {
        pthread_mutex_unlock(&collector->mutex);
        sem_clockwait(&session->engine->due, CLOCK_MONOTONIC, &due);
        pthread_mutex_lock(&collector->mutex);
    }
    while (sem_trywait(&session->engine->due) == 0)
        ; // one turn is for all who have asked
    wanted = collector->wanted;
    pthread_mutex_unlock(&collector->mutex);
    if (wanted != collector->done)
        Collector_build(collector);
    else
        rest(collector);
    Details_serve(session);
    Clock_refine(&session->engine->clock);
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

// --- The others' side ------------------------------------------------------

static void init_conditions(struct Collector *collector)
{
    pthread_condattr_t monotonic;

    pthread_mutex_init(&collector->mutex, NULL);
    pthread_mutex_init(&collector->draining, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&collector->built, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void Collector_init(struct Collector *collector, struct Session *session)
{
    memset(collector, 0, sizeof *collector);
    collector->session = session;
    init_conditions(collector);
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
    sem_post(&collector->session->engine->due);
    pthread_cond_broadcast(&collector->built);
    pthread_mutex_unlock(&collector->mutex);
    Worker_join(&collector->worker);
}

void Collector_want(struct Collector *collector)
{
    pthread_mutex_lock(&collector->mutex);
    collector->wanted++;
    sem_post(&collector->session->engine->due);
    pthread_mutex_unlock(&collector->mutex);
}

int Collector_wait(struct Collector *collector, unsigned timeout_ms)
{
    struct timespec due = in_ms(timeout_ms);
    uint64_t goal;
    int error = 0;

    pthread_mutex_lock(&collector->mutex);
    goal = ++collector->wanted;
    sem_post(&collector->session->engine->due);
    while (!error && collector->done < goal)
        error = collector->running
                    ? pthread_cond_timedwait(&collector->built,
                                             &collector->mutex, &due)
                    : ESHUTDOWN;
    pthread_mutex_unlock(&collector->mutex);
    return -error;
}
