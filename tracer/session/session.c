// SPDX-License-Identifier: MIT
// Starts and ends a run of tracing, and answers what viewers ask of it.
// Start and finish: the thread that python/ calls from. Requests: the server's
// thread.
#include "tracer/session/session.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "tracer/base/rcu.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ipc/version.h"

#define REFUSED                                                                \
    "this process may not read its own memory without the risk of a crash "    \
    "(process_vm_readv and /proc/self/mem are refused): "
#define SAMPLER_HZ 100.0 // about 0.1 % of the CPU time; the budget sets it
#define REFRESH_MS 2000
#define DEBTORS_S 0.95      // a bit less than the usual period
#define DEBTORS_MOST_S 1.7  // or two: after 3 s a viewer calls it silent
#define DEBTORS_PATIENCE 10 // snapshots in debt, one after the other
#define GOODBYE_MS 200

// --- What the server asks --------------------------------------------------

// What is built for viewers is part of the overhead: while that is over the
// budget they get a snapshot every second at most, every two where it stays so
// or the program pauses and has spent what it may, and who has just come makes
// do with the last one.
static void want(void *context, bool first)
{
    struct Session *session = context;
    const struct Budget *budget = Account_open(session);
    bool debt = Budget_is_overdrawn(budget), tight = Budget_is_tight(budget);
    double now_s = Now_s(CLOCK_MONOTONIC);
    double waited = now_s - session->built_s;
    bool patient = !tight && session->debt_builds < DEBTORS_PATIENCE;

    Account_close(session);
    if ((debt || tight) && waited < (patient ? DEBTORS_S : DEBTORS_MOST_S)) {
        if (first)
            Server_notify(session->server);
        return;
    }
    // Viewers that are there all the time, not one after a pause.
    if (debt && waited < 2 * DEBTORS_MOST_S)
        session->debt_builds++;
    else
        session->debt_builds = debt;
    session->built_s = now_s;
    Collector_want(&session->collector);
}

static const struct Snapshot *get(void *context)
{
    return Publish_get(&((struct Session *)context)->publish);
}

static void put(void *context, const struct Snapshot *snapshot)
{
    (void)snapshot;
    Publish_put(&((struct Session *)context)->publish);
}

static void refuse(struct Session *session, uint64_t viewer,
                   const struct Message *message, int error, const char *why)
{
    struct Message answer = {
        .type = MESSAGE_ERROR,
        .request = message->request,
        .number = (uint64_t)error,
    };
    char text[256];

    snprintf(text, sizeof text, "%s", why);
    answer.text = text;
    Server_answer(session->server, viewer, &answer);
}

static void reply(struct Session *session, uint64_t viewer,
                  const struct Message *message, double value)
{
    struct Message answer = {
        .type = MESSAGE_REPLY,
        .request = message->request,
        .value = value,
    };

    Server_answer(session->server, viewer, &answer);
}

static void accept_request(struct Session *session, uint64_t viewer,
                           const struct Message *message)
{
    reply(session, viewer, message, 1);
}

static void start_export(struct Session *session, uint64_t viewer,
                         const struct Message *message)
{
    int error = Export_start(&session->export, message->descriptor,
                             message->text, viewer, message->request);

    if (error == -ENODATA)
        refuse(session, viewer, message, ENODATA,
               "no timeline is kept: start tracing with perfetto=True");
    else if (error == -EBUSY)
        refuse(session, viewer, message, EBUSY,
               "another export is running: wait for it or cancel it");
    else if (error == -ESHUTDOWN)
        refuse(session, viewer, message, ESHUTDOWN, "tracing is ending");
    else if (error)
        refuse(session, viewer, message, -error, strerror(-error));
}

static bool is_alive(struct Session *session, uint64_t id)
{
    bool alive;

    Rcu_read_lock();
    alive = id <= UINT32_MAX &&
            Registry_by_id(session->engine->registry, (uint32_t)id);
    Rcu_read_unlock();
    return alive;
}

static void rearm(struct Session *session, uint64_t viewer,
                  const struct Message *message)
{
    if (message->number && !is_alive(session, message->number)) {
        refuse(session, viewer, message, ENOENT,
               "there is no such function, or not any more");
        return;
    }
    Rearm_push(&session->rearm, message->number);
    Details_urge(&session->details);
    accept_request(session, viewer, message);
}

static void detail(struct Session *session, uint64_t viewer,
                   const struct Message *message)
{
    int result;

    if (!is_alive(session, message->number)) {
        refuse(session, viewer, message, ENOENT,
               message->number &&
                       message->number <=
                           Registry_newest_id(session->engine->registry)
                   ? "this function is gone: its code object has been freed"
                   : "there is no function with that id");
        return;
    }
    result = Details_ask(&session->details, viewer, message->request,
                         (uint32_t)message->number);
    if (result > 0)
        sem_post(&session->engine->due);
    else if (result == -ESHUTDOWN)
        refuse(session, viewer, message, ESHUTDOWN, "tracing is ending");
    else if (result < 0)
        refuse(session, viewer, message, -result,
               "too many viewers look at functions: try again");
}

static void set_budget(struct Session *session, uint64_t viewer,
                       const struct Message *message)
{
    int error = Session_set_budget(session, message->value);

    if (error == -ENOTSUP)
        refuse(session, viewer, message, ENOTSUP,
               "no budget is held in this trace: "
               "start it in adaptive mode with a threshold above 0");
    else if (error)
        refuse(session, viewer, message, -error,
               "a budget is a share of CPU time, above 0 and at most 1: "
               "0.01 is one per cent");
    else
        reply(session, viewer, message, message->value);
}

static void send_stacks(struct Session *session, uint64_t viewer,
                        const struct Message *message)
{
    struct Message answer = {.type = MESSAGE_STACKS,
                             .request = message->request};
    const char *why = Session_sampler_trouble(session);

    if (!session->sampler && !why)
        why = "no sampler runs in this trace";
    if (why) {
        refuse(session, viewer, message, ENODATA, why);
        return;
    }
    answer.stacks = Sampler_stacks(session->sampler);
    if (answer.stacks)
        Server_answer(session->server, viewer, &answer);
    else
        refuse(session, viewer, message, ENOMEM, "memory is out");
    FlameTable_free(answer.stacks);
}

static void request(void *context, uint64_t viewer,
                    const struct Message *message)
{
    struct Session *session = context;

    switch ((int)message->type) {
    case MESSAGE_EXPORT:
        start_export(session, viewer, message);
        return;
    case MESSAGE_CANCEL:
        Export_cancel(&session->export);
        accept_request(session, viewer, message);
        return;
    case MESSAGE_DETAIL:
        detail(session, viewer, message);
        return;
    case MESSAGE_REARM:
        rearm(session, viewer, message);
        return;
    case MESSAGE_BUDGET:
        set_budget(session, viewer, message);
        return;
    case MESSAGE_FLAME:
        send_stacks(session, viewer, message);
        return;
    default:
        refuse(session, viewer, message, EOPNOTSUPP,
               "this process's Ocular cannot do that");
    }
}

static void viewers(void *context, unsigned count)
{
    const struct Door *door = ((struct Session *)context)->config.door;

    if (door)
        door->viewers(door->context, count);
}

// --- Start and finish ------------------------------------------------------

static int start_server(struct Session *session, char *why, size_t why_size)
{
    const struct ServerSource source = {.context = session,
                                        .want = want,
                                        .get = get,
                                        .put = put,
                                        .request = request,
                                        .viewers = viewers};
    const struct Door *door = session->config.door;

    if (door) {
        session->server = door->server;
        session->server_base_ns = Server_cpu_ns(door->server);
        Server_turn_to(door->server, &source, false);
        return 0;
    }
    return Server_open(&session->server, &source, OCULAR_VERSION, why,
                       why_size);
}

// A signal that was asked for is used or refused; where any would do and none
// is free there are looks alone, which the snapshot says.
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

static int start_threads(struct Session *session, char *why, size_t why_size)
{
    struct Engine *engine = session->engine;
    int error;

    if (session->config.sampler) {
        const struct SamplerParts parts = {
            .registry = engine->registry,
            .layout = &engine->layout,
            .opcodes = &engine->opcodes,
            .counter = &engine->clock,
            .signal = session->config.signal,
        };

        error = Sampler_start(&session->sampler, &parts, SAMPLER_HZ);
        // Without the right to read ourselves: hooks alone, shares unknown.
        session->sampler_refused = error == -EPERM;
        if (error && error != -EPERM) {
            snprintf(why, why_size, "the sampler cannot start: %s",
                     strerror(-error));
            return error;
        }
        if (!error && !check_signal(session, why, why_size))
            return -EBUSY;
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
    if (!error && session->config.door) // for those who wait there already
        Collector_want(&session->collector);
    return error;
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
    session->first_hits = config->threshold;
    session->arm_new = true;
    session->engine = engine;
    // What went between two sessions belongs to none, and nobody reads it.
    Registry_free_retired(engine->registry);
    Export_init(&session->export, session);
    Collector_init(&session->collector, session);
    Account_init(&session->account, session);
    Rearm_init(&session->rearm);
    Details_init(&session->details);
    session->start_ticks = Clock_read(&engine->clock);
    Transitions_init(&session->transitions, &engine->opcodes, &engine->clock,
                     session->start_ticks);
    session->start_unix_ns =
        engine->clock.start_unix_ns +
        (uint64_t)(1e9 * Clock_seconds(&engine->clock, session->start_ticks));
    if (config->timeline) {
        session->timeline = Timeline_new(config->timeline_limit);
        if (!session->timeline)
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

int Session_set_budget(struct Session *session, double budget)
{
    if (isnan(session->config.budget))
        return -ENOTSUP;
    if (!(budget > 0 && budget <= 1))
        return -EINVAL;
    // Pairs with the governor's load, and with the builder's.
    atomic_store_explicit(&session->budget, budget, memory_order_relaxed);
    return 0;
}

const char *Session_sampler_trouble(const struct Session *session)
{
    if (session->sampler_refused)
        return REFUSED "no shares of time, the hooks' figures alone";
    if (session->sampler && Sampler_is_blind(session->sampler))
        return REFUSED
            "shares of time end where that began, "
            "the hooks' figures go on";
    return NULL;
}

int Session_refresh(struct Session *session)
{
    return Collector_wait(&session->collector, REFRESH_MS);
}

static void stop_server(struct Session *session)
{
    if (session->config.door)
        Door_shut(session->config.door, !session->hands_over);
    else
        Server_close(session->server, GOODBYE_MS);
}

void Session_finish(struct Session *session)
{
    // Before the server: a background export answers through it.
    Export_close(&session->export);
    Collector_stop(&session->collector);
    Details_close(session);
    Clock_refine(&session->engine->clock);
    if (session->sampler) {
        Sampler_pause(session->sampler);
        Sampler_collect(session->sampler);
    }
    Collector_build(&session->collector);
    pthread_mutex_lock(&session->engine->ending);
    if (session->server)
        stop_server(session);
    session->server = NULL;
    if (session->sampler)
        Sampler_stop(session->sampler);
    session->sampler = NULL;
    pthread_mutex_unlock(&session->engine->ending);
}

struct Snapshot *Session_take(struct Session *session)
{
    return Publish_take(&session->publish);
}

void Session_free(struct Session *session)
{
    if (!session)
        return;
    Export_release(&session->export);
    Publish_set(&session->publish, NULL);
    if (session->timeline)
        Timeline_free(session->timeline);
    Retired_release(&session->retired);
    Rearm_release(&session->rearm);
    Details_release(&session->details);
    Account_release(&session->account);
    Transitions_release(&session->transitions);
    Heap_free(session);
}

void Session_pause(struct Session *session)
{
    // The collector first: it reads how long the others have run.
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

// The child has one thread, and the others may have held any lock: what they
// guard is left as it is, and leaks once.
void Session_abandon(struct Session *session)
{
    if (session->server && !session->config.door) // the door is its owner's
        Server_abandon(session->server);
    session->server = NULL;
    if (session->sampler)
        Sampler_abandon(session->sampler);
    session->sampler = NULL;
}
