// SPDX-License-Identifier: MIT
#include "tracer/session/requests.h"
#include "ipc/base/now.h"
#include "tracer/base/rcu.h"
#include "tracer/session/native_stacks.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

// Largest number of rows in the table of stacks for a viewer.
#define FLAME_SENT 4096
// Samples contain C functions for this number of ns after a viewer has asked
// for them.
#define NATIVE_NS UINT64_C(10000000000)
// Seconds between two snapshots while the overhead exceeds the budget.
// DEBTORS_S is a little less than a viewer's default period.
#define DEBTORS_S 0.95
// Seconds between two snapshots if the budget is exceeded for long.
// DEBTORS_MOST_S is a little less than two of a viewer's default periods. A
// viewer reports silence after 3 s.
#define DEBTORS_MOST_S 1.7
// After this number of consecutive snapshots with an exceeded (overdrawn)
// budget, snapshots come less often.
#define DEBTORS_PATIENCE 10

// Makes the collector build a snapshot for viewers, unless the budget forbids
// this, because such snapshots are part of the overhead. While the overhead
// exceeds the budget, viewers get at most one snapshot per second. Viewers get
// one snapshot every two seconds if the budget is exceeded for long, or if the
// program pauses and has spent its allowance. If no snapshot is built for a new
// viewer, the viewer gets the last one.
static void want(void *context, bool first)
{
    struct Session *session = context;
    const struct Budget *budget = Account_look(&session->account);
    bool debt = Budget_is_overdrawn(budget);
    bool throttled = Budget_is_throttled(budget);
    double now_s = Now_s(CLOCK_MONOTONIC);
    double waited = now_s - session->built_s;
    bool patient = !throttled && session->debt_builds < DEBTORS_PATIENCE;

    Account_close(&session->account);
    if ((debt || throttled) &&
        waited < (patient ? DEBTORS_S : DEBTORS_MOST_S)) {
        if (first)
            Server_notify(session->server);
        return;
    }
    // The count of snapshots with an exceeded budget begins again after a time
    // without snapshots.
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

void Session_answer(void *session, uint64_t viewer,
                    const struct Message *message)
{
    struct Server *server = ((struct Session *)session)->server;

    if (server)
        Server_answer(server, viewer, message);
}

static void refuse(struct Session *session, uint64_t viewer,
                   const struct Message *message, int error, const char *why)
{
    struct Message answer = {
        .type = MESSAGE_ERROR,
        .request = message->request,
        .number = (uint64_t)error,
        .text = (char *)why,
    };

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

// Queues a viewer's request for the recording. Returns 0, -EBUSY or -ESHUTDOWN.
static int queue_handout(struct Session *session, uint64_t viewer,
                         const struct Message *message)
{
    struct Handouts *handouts = &session->handouts;
    int error = 0;

    pthread_mutex_lock(&handouts->mutex);
    if (handouts->closed)
        error = -ESHUTDOWN;
    else if (handouts->count == HANDOUT_REQUESTS)
        error = -EBUSY;
    else
        handouts->requests[handouts->count++] = (struct HandoutRequest){
            viewer, message->request, (enum HandoutKind)message->number,
            Now_ns(CLOCK_MONOTONIC)};
    pthread_mutex_unlock(&handouts->mutex);
    if (!error)
        sem_post(session->collector.work.due);
    return error;
}

static void hand_out(struct Session *session, uint64_t viewer,
                     const struct Message *message)
{
    bool known = message->number <= HANDOUT_STACKS;
    int error = known ? queue_handout(session, viewer, message) : -EINVAL;

    if (error == -EINVAL)
        refuse(session, viewer, message, EINVAL,
               "this process has no recording of that kind");
    else if (error == -ESHUTDOWN)
        refuse(session, viewer, message, ESHUTDOWN, "tracing is ending");
    else if (error)
        refuse(session, viewer, message, -error,
               "too many viewers ask for the recording: try again");
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
    RearmQueue_push(&session->rearm, message->number, false);
    Waker_wake(&session->governor_waker);
    accept_request(session, viewer, message);
}

static void detail(struct Session *session, uint64_t viewer,
                   const struct Message *message)
{
    int error;

    if (!is_alive(session, message->number)) {
        refuse(session, viewer, message, ENOENT,
               message->number &&
                       message->number <=
                           Registry_newest_id(session->engine->registry)
                   ? "this function is gone: its code object has been freed"
                   : "there is no function with that id");
        return;
    }
    RearmQueue_push(&session->rearm, message->number, true);
    error = ListingRequests_ask(&session->requests, viewer, message->request,
                                (uint32_t)message->number);
    if (error == -ESHUTDOWN)
        refuse(session, viewer, message, ESHUTDOWN, "tracing is ending");
    else if (error)
        refuse(session, viewer, message, -error,
               "too many viewers look at functions: try again");
}

// Only the server's thread makes the counts of latencies, so it does so once
// for each function.
static void count_latencies(struct Session *session, uint64_t viewer,
                            const struct Message *message)
{
    uint64_t id = message->number;
    struct Code *code;
    bool counts;

    Rcu_read_lock();
    code = id <= UINT32_MAX
               ? Registry_by_id(session->engine->registry, (uint32_t)id)
               : NULL;
    counts = code && Latency_count(code, Clock_hz(&session->engine->clock));
    Rcu_read_unlock();
    if (counts)
        accept_request(session, viewer, message);
    else
        refuse(session, viewer, message, ENOENT,
               "no call of such a function has been timed");
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
    answer.stacks = Sampler_stacks(session->sampler, FLAME_SENT);
    if (answer.stacks)
        Server_answer(session->server, viewer, &answer);
    else
        refuse(session, viewer, message, ENOMEM, "memory is out");
    FlameTable_free(answer.stacks);
}

static void ask_tasks(struct Session *session, uint64_t viewer,
                      const struct Message *message)
{
    struct TaskBoard *board = &session->tasks;

    if (message->type == MESSAGE_TASK_GROUP
            ? TaskBoard_ask_group(board, message->number)
            : TaskBoard_ask(board))
        Waker_wake(&session->governor_waker);
    accept_request(session, viewer, message);
}

static void want_natives(struct Session *session, uint64_t viewer,
                         const struct Message *message)
{
    const char *why = NativeStacks_trouble();

    if (!session->sampler)
        why = "no sampler runs in this trace";
    if (!why)
        Sampler_want_natives(session->sampler,
                             Now_ns(CLOCK_MONOTONIC) + NATIVE_NS);
    if (!why && Sampler_misses_loop(session->sampler))
        why =
            "this CPython has no symbol for its evaluation loop (it was "
            "built with tail calls, and stripped)";
    if (why) {
        refuse(session, viewer, message, ENOSYS, why);
        return;
    }
    accept_request(session, viewer, message);
}

static void ask_objects(struct Session *session, uint64_t viewer,
                        const struct Message *message)
{
    if (ObjectBoard_ask(&session->objects))
        Waker_wake(&session->governor_waker);
    accept_request(session, viewer, message);
}

static void request(void *context, uint64_t viewer,
                    const struct Message *message)
{
    struct Session *session = context;

    switch ((int)message->type) {
    case MESSAGE_HANDOUT:
        hand_out(session, viewer, message);
        return;
    case MESSAGE_DETAIL:
        detail(session, viewer, message);
        return;
    case MESSAGE_REARM:
        rearm(session, viewer, message);
        return;
    case MESSAGE_LATENCIES:
        count_latencies(session, viewer, message);
        return;
    case MESSAGE_BUDGET:
        set_budget(session, viewer, message);
        return;
    case MESSAGE_FLAME:
        send_stacks(session, viewer, message);
        return;
    case MESSAGE_TASKS:
    case MESSAGE_TASK_GROUP:
        ask_tasks(session, viewer, message);
        return;
    case MESSAGE_NATIVE:
        want_natives(session, viewer, message);
        return;
    case MESSAGE_OBJECTS:
        ask_objects(session, viewer, message);
        return;
    case MESSAGE_LINES:
        LineRows_ask(&session->lines);
        accept_request(session, viewer, message);
        return;
    default:
        refuse(session, viewer, message, EOPNOTSUPP,
               "this process's Ocular cannot do that");
    }
}

static void viewers(void *context, unsigned count)
{
    const struct PersistentServer *persistent =
        ((struct Session *)context)->config.persistent;

    if (persistent)
        persistent->viewers(persistent->context, count);
}

struct ServerSource Requests_source(struct Session *session)
{
    return (struct ServerSource){.context = session,
                                 .want = want,
                                 .get = get,
                                 .put = put,
                                 .request = request,
                                 .viewers = viewers};
}
