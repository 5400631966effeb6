// SPDX-License-Identifier: MIT
#include "tracer/session/collect.h"
#include "ipc/base/now.h"
#include "tracer/base/rcu.h"
#include "tracer/session/builder.h"
#include "tracer/session/c_rates.h"
#include "tracer/session/counters.h"
#include "tracer/session/recorder.h"

#include <time.h>

// A turn is one round of the collector's work. If a recording is written, turns
// that do all work have this distance in seconds.
#define LOOK_S 0.95
// Maximum number of bytes of the recording that may wait for the disk.
#define MOST_WAITING (8u << 20)
// After this number of turns without an event, the collector sleeps longer.
#define IDLE_TURNS 5u
// After this number of seconds without a snapshot, the collector frees spare
// memory.
#define SPARE_S 3.0

// Moves events from a thread's ring into the timeline. The caller holds the
// mutex Session.tracks.
static void drain_ring(struct Session *session, struct ThreadTrace *trace)
{
    char name[sizeof trace->name];

    ThreadTraces_copy_name(&session->engine->traces, trace, name);
    if (!trace->track)
        trace->track =
            Timeline_begin(session->timeline, trace->number, trace->tid, name);
    else // The program may name a thread some time after its first event.
        Timeline_name(session->timeline, trace->track, name);
    // If there was no memory for a track, the collector's next turn tries
    // again.
    if (trace->track)
        Timeline_drain(session->timeline, trace->track, trace->ring);
}

static void drain_trace(void *context, struct ThreadTrace *trace, bool ended)
{
    struct Session *session = context;

    if (ended) {
        Counting_begin(&session->engine->counting);
        Counting_forget_thread(&session->engine->counting, trace);
        Counting_end(&session->engine->counting);
        EventLoops_leave(&session->engine->loops, trace);
    }
    if (!trace->ring || !session->timeline)
        return;
    pthread_mutex_lock(&session->tracks);
    drain_ring(session, trace);
    if (trace->track)
        Timeline_save(session->timeline, trace->track);
    if (ended && trace->track)
        Timeline_end(session->timeline, trace->track);
    pthread_mutex_unlock(&session->tracks);
    Counters_add(session, trace, ended);
}

// Empties a full ring of events. The thread that counts hits calls empty_ring.
// empty_ring waits while another thread empties a ring.
static void empty_ring(void *context, void *producer)
{
    struct Session *session = context;
    struct ThreadTrace *trace = producer;

    pthread_mutex_lock(&session->tracks);
    if (session->timeline)
        drain_ring(session, trace);
    pthread_mutex_unlock(&session->tracks);
    // A program that is faster than the disk waits here, so that no event is
    // lost.
    if (session->timeline &&
        Recording_waiting(Timeline_recording(session->timeline)) > MOST_WAITING)
        Recording_flush(Timeline_recording(session->timeline), true);
}

static void reclaim(struct Session *session)
{
    struct Engine *engine = session->engine;
    // Code must be kept if it was retired after this time, because samples of
    // it may still come.
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
        CRates_retire(engine->registry, code);
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
    Counters_begin(session);
    ThreadTraces_visit(&session->engine->traces, drain_trace, session);
    reclaim(session);
    Exceptions_free_old(&session->engine->exceptions);
    Recorder_turn(session);
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
    Recorder_flush(session);
}

void Collect_build(struct Session *session)
{
    struct Snapshot *snapshot;

    // No code is freed before all rows of the snapshot are built, so each code
    // object is either alive or retired, and never both.
    pthread_mutex_lock(&session->draining);
    drain(session);
    Engine_look(session->engine);
    snapshot = Builder_snapshot(session);
    pthread_mutex_unlock(&session->draining);
    session->collected_s = Now_s(CLOCK_MONOTONIC);
    if (!snapshot) // No memory: the old snapshot stays.
        return;
    Publish_set(&session->publish, snapshot);
    RowLog_reclaim(&session->rows);
    if (session->server)
        Server_notify(session->server);
}

// Does a turn of the collector that builds no snapshot.
static void rest(struct Session *session)
{
    Collect_drain(session);
    if (Now_s(CLOCK_MONOTONIC) - session->collected_s > SPARE_S)
        Publish_trim(&session->publish);
}

// Returns true if only the recording must be written now, which happens more
// often than other work.
static bool is_between(struct Session *session)
{
    double now = Now_s(CLOCK_MONOTONIC);

    if (session->recording && now - session->looked_s < LOOK_S &&
        ListingRequests_pause_ms(&session->requests, 1))
        return true;
    session->looked_s = now;
    return false;
}

// Returns true if the program has run since the last call.
static bool has_run(struct Session *session)
{
    struct Counting *counting = &session->engine->counting;
    uint64_t head = atomic_load(&counting->ring.head);
    uint64_t alone = Counter_get(&counting->alone);
    bool ran = atomic_exchange(&session->sampled, false) ||
               head != session->followed || alone != session->followed_alone;

    session->followed = head;
    session->followed_alone = alone;
    session->idle_turns = ran ? 0 : session->idle_turns + 1;
    return ran;
}

static void turn(void *context, bool wanted)
{
    struct Session *session = context;

    if (session->handouts.serve)
        session->handouts.pause_ms = session->handouts.serve(session);
    if (!wanted && is_between(session)) {
        if (has_run(session))
            Collect_drain(session);
        return;
    }
    if (session->config.each_turn)
        session->config.each_turn(session);
    Recorder_totals(session);
    if (wanted) {
        Collect_build(session);
        // The recording is written last, because no viewer may wait for the
        // disk.
        Recorder_flush(session);
    } else {
        rest(session);
    }
    ListingRequests_serve(&session->requests);
    Clock_refine(&session->engine->clock);
}

static unsigned pause_ms(void *context, unsigned most)
{
    struct Session *session = context;
    unsigned pause = session->recording ? Recorder_pause_ms(session) : most;

    // If the program has done nothing, its next hit will wake the collector's
    // thread.
    if (pause < most &&
        !(session->idle_turns >= IDLE_TURNS &&
          HitRing_sleep(&session->engine->counting.ring, session->followed)))
        most = pause;
    if (session->handouts.serve && session->handouts.pause_ms < most)
        most = session->handouts.pause_ms;
    return ListingRequests_pause_ms(&session->requests, most);
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
    Collector_init(&session->collector, &work);
}
