// SPDX-License-Identifier: MIT
#include "tracer/session/lifetime.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "ipc/version.h"
#include "tracer/session/collect.h"
#include "tracer/session/costs.h"
#include "tracer/session/exports.h"
#include "tracer/session/handout.h"
#include "tracer/session/listings.h"
#include "tracer/session/native_stacks.h"
#include "tracer/session/profiles.h"
#include "tracer/session/recorder.h"
#include "tracer/session/requests.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// Samples per second at the start, which take about 0.1 % of CPU time. The
// budget changes this rate.
#define SAMPLER_HZ 100.0
#define GOODBYE_MS 200
// If a program only waits, its waits are written to the recording after this
// number of seconds.
#define WAITS_S 5.0

static int start_server(struct Session *session, char *why, size_t why_size)
{
    const struct ServerSource source = Requests_source(session);
    const struct PersistentServer *persistent = session->config.persistent;

    if (persistent) {
        session->server = persistent->server;
        session->server_base_ns = Server_cpu_ns(persistent->server);
        Server_turn_to(persistent->server, &source, false);
        return 0;
    }
    return Server_open(&session->server, &source, OCULAR_VERSION, why,
                       why_size);
}

// Returns false if the user has chosen a signal that Ocular cannot use. If the
// user has chosen no signal and none is free, the sampler only observes
// threads, and the snapshot says so.
static bool check_signal(struct Session *session, char *why, size_t why_size)
{
    struct SamplerTotals totals;

    Sampler_totals(session->sampler, &totals);
    if (session->config.signal <= 0 || totals.signal)
        return true;
    snprintf(why, why_size,
             "OCULAR_SIGNAL: signal %d cannot be used to sample (%s): choose "
             "another one, or none",
             session->config.signal,
             totals.error == -EBUSY ? "the program has a handler for it"
                                    : strerror(-totals.error));
    return false;
}

// Adds a sample to the timeline. The sampler's thread calls keep_sample.
static void keep_sample(void *context, const struct FlameSample *sample,
                        pid_t tid, uint64_t ticks)
{
    struct Session *session = context;
    struct TimelineSample kept = {
        .ticks = ticks,
        .tid = tid,
        .in_c = sample->in_c,
        .cpu_ns = sample->cpu_ns,
        .at = Event_step(sample->unit, sample->opcode, sample->line),
        .path = sample->path,
        .depth = sample->depth};

    // UINT64_MAX means that the sample comes from an observation that has just
    // been made.
    if (ticks == UINT64_MAX)
        kept.ticks = Clock_read(&session->engine->clock);
    SampleTrack_add(&session->samples, session->timeline, &kept);
    atomic_store(&session->sampled, true);
    HitRing_wake(&session->engine->counting.ring);
}

// Adds a wait to the timeline, with its time for each kind in the flame graph,
// and with the weights of its reasons. The sampler's thread calls keep_wait.
static void keep_wait(void *context, const struct SampledWait *wait, pid_t tid)
{
    struct Session *session = context;
    const struct TimelineSample kept = {.ticks =
                                            Clock_read(&session->engine->clock),
                                        .tid = tid,
                                        .path = wait->path,
                                        .depth = wait->depth};
    // Often the time and the weight are the same, and are stored only once.
    bool same = wait->kind == wait->drawn && wait->kind_ns == wait->ns;
    bool same_starved = wait->starved_weight_ns == wait->starved_ns;
    const struct TimelineWait waits[SAMPLE_TRACK_WAITS] = {
        {wait->ns, wait->drawn, true, same},
        {wait->starved_ns, WAITS_CPU, true, same_starved},
        {same ? 0 : wait->kind_ns, wait->kind, false, true},
        {same_starved ? 0 : wait->starved_weight_ns, WAITS_CPU, false, true}};

    SampleTrack_add_waits(&session->samples, session->timeline, &kept, waits,
                          SAMPLE_TRACK_WAITS);
    // If the program only waits, the collector's thread is not needed at each
    // wait.
    if ((double)(kept.ticks - session->waits_ticks) >
        WAITS_S * Clock_hz(&session->engine->clock)) {
        session->waits_ticks = kept.ticks;
        atomic_store(&session->sampled, true);
        HitRing_wake(&session->engine->counting.ring);
    }
}

static int start_threads(struct Session *session, char *why, size_t why_size)
{
    struct Engine *engine = session->engine;
    int error;

    if (session->config.native && NativeStacks_trouble()) {
        snprintf(why, why_size, "%s", NativeStacks_trouble());
        return -ENOSYS;
    }
    if (session->config.sampler) {
        const struct SamplerParts parts = {
            .registry = engine->registry,
            .layout = &engine->layout,
            .opcodes = &engine->opcodes,
            .counter = &engine->clock,
            .call_ticks = engine->traces.call_ticks,
            .sink = {session, session->timeline ? keep_sample : NULL,
                     session->timeline ? keep_wait : NULL},
            .loops = &engine->loops,
            .long_calls = &session->long_calls,
            .native_reader = NativeStacks_read,
            .signal = session->config.signal,
        };

        error = Sampler_start(&session->sampler, &parts, SAMPLER_HZ);
        // Without the right to read the process's own memory there are no
        // samples. Without samples, only hooks measure, and shares are not
        // known.
        session->sampler_refused = error == -EPERM;
        if (error && error != -EPERM) {
            snprintf(why, why_size, "the sampler cannot start: %s",
                     strerror(-error));
            return error;
        }
        if (!error && !check_signal(session, why, why_size))
            return -EBUSY;
        if (!error && session->config.native)
            Sampler_want_natives(session->sampler, UINT64_MAX);
    }
    if (session->config.serve) {
        error = start_server(session, why, why_size);
        if (error)
            return error;
    }
    error = Collector_start(&session->collector);
    if (error)
        snprintf(why, why_size, "the collector cannot start: %s",
                 strerror(-error));
    // Viewers of the persistent server may already wait.
    if (!error && session->config.persistent)
        Collector_want(&session->collector);
    return error;
}

// Makes the timeline. If the recording cannot be stored in the default folder,
// the timeline forgets its oldest part instead. A folder that the user has
// named and in which the recording cannot be stored is an error.
static int start_timeline(struct Session *session, char *why, size_t why_size)
{
    int error = Recorder_start(session);

    if (error && error != -ENOMEM)
        snprintf(why, why_size, "timeline_spill: no file can be made in %s: %s",
                 session->config.spill, strerror(-error));
    session->engine->rearmed = Ring_new(NULL);
    return error ? error : session->engine->rearmed ? 0 : -ENOMEM;
}

int Session_start(struct Session **result, struct Engine *engine,
                  const struct Config *config, char *why, size_t why_size)
{
    struct Session *session = Heap_zeroed(1, sizeof *session);
    int error = -ENOMEM;

    snprintf(why, why_size, "memory is out");
    if (!session)
        return -ENOMEM;
    session->config = *config;
    session->budget = config->budget;
    engine->registry->hits = Session_second_hits(session);
    session->arm_new = true;
    session->engine = engine;
    // Code that was retired between two sessions belongs to no session, and no
    // thread uses it.
    Registry_free_retired(engine->registry);
    Handouts_init(&session->handouts);
    Collect_init(session);
    Costs_init(session);
    RearmQueue_init(&session->rearm);
    Waker_init(&session->governor_waker);
    session->long_calls.governor = &session->governor_waker;
    Listings_init(session);
    TaskBoard_init(&session->tasks);
    ObjectBoard_init(&session->objects, config->objects);
    Counter_set(&engine->objects_s, 0);
    Garbage_reset(&engine->garbage, Now_s(CLOCK_MONOTONIC));
    EventLoops_reset(&engine->loops, config->stall_s, Clock_hz(&engine->clock));
    Exceptions_reset(&engine->exceptions);
    session->start_ticks = Clock_read(&engine->clock);
    Transitions_init(&session->transitions, &engine->opcodes, &engine->clock,
                     session->start_ticks);
    session->start_unix_ns =
        engine->clock.start_unix_ns +
        (uint64_t)(1e9 * Clock_seconds(&engine->clock, session->start_ticks));
    if (config->timeline || (config->profile && config->record)) {
        error = start_timeline(session, why, why_size);
        if (error)
            goto fail;
    }
    error = start_threads(session, why, why_size);
    if (error)
        goto fail;
    *result = session;
    return 0;
fail:
    session->hands_over = true;
    Session_finish(session);
    Session_free(session);
    return error;
}

static void stop_server(struct Session *session)
{
    if (session->config.persistent)
        PersistentServer_detach(session->config.persistent,
                                !session->hands_over);
    else
        Server_close(session->server, GOODBYE_MS);
}

void Session_finish(struct Session *session)
{
    Collector_stop(&session->collector);
    Handouts_close(session);
    ListingRequests_close(&session->requests);
    Clock_refine(&session->engine->clock);
    if (session->sampler) {
        Sampler_pause(session->sampler);
        Sampler_collect(session->sampler);
    }
    session->counters.last = true;
    session->roll.all = true;
    LineRows_ask(&session->lines);
    Collect_build(session);
    Recorder_flush(session);
    pthread_mutex_lock(&session->engine->ending);
    if (session->server)
        stop_server(session);
    session->server = NULL;
    Profiles_keep(session);
    if (session->sampler)
        Sampler_stop(session->sampler);
    session->sampler = NULL;
    pthread_mutex_unlock(&session->engine->ending);
}

void Session_free(struct Session *session)
{
    if (!session)
        return;
    Handouts_release(&session->handouts);
    Collect_release(session);
    Recorder_release(session);
    Publish_set(&session->publish, NULL);
    Roll_release(&session->roll);
    RowLog_release(&session->rows);
    if (session->timeline)
        Timeline_free(session->timeline);
    Ring_free(session->engine->rearmed);
    session->engine->rearmed = NULL;
    FlameTable_free(session->stacks);
    Retired_release(&session->retired);
    RearmQueue_release(&session->rearm);
    ListingRequests_release(&session->requests);
    TaskBoard_release(&session->tasks);
    ObjectBoard_release(&session->objects);
    Waker_release(&session->governor_waker);
    Account_release(&session->account);
    Transitions_release(&session->transitions);
    Heap_free(session);
}

void Session_pause(struct Session *session)
{
    // The collector stops first, because it reads the CPU time of the other
    // threads.
    Collector_stop(&session->collector);
    if (session->server)
        Server_pause(session->server);
    if (session->sampler)
        Sampler_pause(session->sampler);
}

int Session_resume(struct Session *session)
{
    int error = session->sampler ? Sampler_resume(session->sampler) : 0;

    if (!error && session->server)
        error = Server_resume(session->server);
    return error ? error : Collector_start(&session->collector);
}

// Releases a session in a forked child. The child has one thread, and the
// parent's other threads may have held any lock. The child therefore leaves
// data alone that a lock guards, and leaks its memory.
void Session_abandon(struct Session *session)
{
    Collect_release(session);
    // No thread empties the ring `rearmed` in the child.
    Ring_free(session->engine->rearmed);
    session->engine->rearmed = NULL;
    if (session->timeline)
        Timeline_abandon(session->timeline);
    // A persistent server belongs to its owner, which releases it.
    if (session->server && !session->config.persistent)
        Server_abandon(session->server);
    session->server = NULL;
    Handouts_abandon(&session->handouts);
    if (session->sampler)
        Sampler_abandon(session->sampler);
    session->sampler = NULL;
}
