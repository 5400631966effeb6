// SPDX-License-Identifier: MIT
// See collect.h.
#include "tracer/session/collect.h"
#include "ipc/base/now.h"
#include "tracer/base/rcu.h"
#include "tracer/session/builder.h"

#include <time.h>

#define SPARE_S 3.0 // without a snapshot, and no memory is kept for the next

// `tracks` is held.
static void drain_ring(struct Session *session, struct ThreadTrace *trace)
{
    char name[sizeof trace->name];

    if (!trace->track) {
        ThreadTraces_copy_name(&session->engine->traces, trace, name);
        trace->track =
            Timeline_begin(session->timeline, trace->number, trace->tid, name);
    }
    if (trace->track) // else memory is out: it is tried again
        Timeline_drain(session->timeline, trace->track, trace->ring);
}

static void drain_trace(void *context, struct ThreadTrace *trace, bool ended)
{
    struct Session *session = context;

    if (ended) {
        Counting_begin(&session->engine->counting);
        Counting_forget_thread(&session->engine->counting, trace);
        Counting_end(&session->engine->counting);
    }
    if (!trace->ring || !session->timeline)
        return;
    pthread_mutex_lock(&session->tracks);
    drain_ring(session, trace);
    if (ended && trace->track)
        Timeline_end(session->timeline, trace->track);
    pthread_mutex_unlock(&session->tracks);
    Counters_add(&session->counters, trace, ended);
}

// The counting thread waits if somebody empties a ring just now, and then does
// so itself.
static void empty_ring(void *context, void *producer)
{
    struct Session *session = context;
    struct ThreadTrace *trace = producer;

    pthread_mutex_lock(&session->tracks);
    if (session->timeline)
        drain_ring(session, trace);
    pthread_mutex_unlock(&session->tracks);
}

static void reclaim(struct Session *session)
{
    struct Engine *engine = session->engine;
    // There may be samples to come of code that has gone since then.
    uint64_t collected = session->sampler
                             ? Sampler_collected_ticks(session->sampler)
                             : UINT64_MAX;
    struct Code *code = Registry_take_retired(engine->registry, collected);
    struct Code *next;

    if (!code)
        return;
    Roll_add_new(&session->roll, engine->registry);
    Rcu_synchronize();
    for (; code; code = next) {
        next = code->node.next_retired;
        Roll_remove(&session->roll, code);
        Retired_add(&session->retired, code);
        if (session->timeline)
            Names_retire(&engine->names, code);
        Code_free(code);
    }
}

static void drain_rearmed(struct Session *session)
{
    struct Ring *ring = session->engine->rearmed;
    const struct Event *events;
    size_t count;

    while (ring && (count = Ring_peek(ring, &events)) > 0) {
        Timeline_add(session->timeline, events, count);
        Ring_pop(ring, count);
    }
}

static void drain(struct Session *session)
{
    Counting_catch_up(&session->engine->counting);
    drain_rearmed(session);
    Counters_begin(&session->counters, session->timeline);
    ThreadTraces_visit(&session->engine->traces, drain_trace, session);
    reclaim(session);
}

void Collect_release(struct Session *session)
{
    session->engine->traces.overflow = (struct RingOverflow){0};
}

void Collect_drain(struct Session *session)
{
    pthread_mutex_lock(&session->draining);
    drain(session);
    pthread_mutex_unlock(&session->draining);
}

void Collect_build(struct Session *session)
{
    struct Snapshot *snapshot;

    // Nothing is reclaimed between the drain and the last row: each code object
    // is among the living or the retired, and not in both.
    pthread_mutex_lock(&session->draining);
    drain(session);
    snapshot = Builder_snapshot(session);
    pthread_mutex_unlock(&session->draining);
    session->collected_s = Now_s(CLOCK_MONOTONIC);
    if (!snapshot) // memory is out: the one before stays
        return;
    Publish_set(&session->publish, snapshot);
    RowLog_reclaim(&session->rows);
    if (session->server)
        Server_notify(session->server);
}

// Nobody wants a snapshot.
static void rest(struct Session *session)
{
    Collect_drain(session);
    if (Now_s(CLOCK_MONOTONIC) - session->collected_s > SPARE_S)
        Publish_trim(&session->publish);
}

static void turn(void *context, bool wanted)
{
    struct Session *session = context;

    if (session->config.each_turn)
        session->config.each_turn(session);
    if (wanted)
        Collect_build(session);
    else
        rest(session);
    Details_serve(&session->details);
    Clock_refine(&session->engine->clock);
}

static unsigned pause_ms(void *context, unsigned most)
{
    return Details_pause_ms(&((struct Session *)context)->details, most);
}

void Collect_init(struct Session *session)
{
    const struct CollectorWork work = {.context = session,
                                       .due = &session->engine->due,
                                       .pause_ms = pause_ms,
                                       .turn = turn};

    pthread_mutex_init(&session->draining, NULL);
    pthread_mutex_init(&session->tracks, NULL);
    if (session->config.timeline && !session->config.threshold)
        session->engine->traces.overflow =
            (struct RingOverflow){empty_ring, session};
    session->collected_s = 0;
    session->counters.then_s = Now_s(CLOCK_MONOTONIC);
    session->counters.source = (struct CounterSource){
        &session->account, session->engine->registry, &session->roll,
        &session->transitions, &session->engine->clock};
    Collector_init(&session->collector, &work);
}
