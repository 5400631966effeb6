// SPDX-License-Identifier: MIT
// The list of lanes: added to by traced threads, visited by the collector.
#include "tracer/hook/lanes.h"
#include "ipc/base/heap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NAME_ASKS 512

void Lanes_init(struct Lanes *lanes)
{
    pthread_mutex_init(&lanes->visiting, NULL);
    pthread_mutex_init(&lanes->mutex, NULL);
    lanes->first = NULL;
    lanes->next_number = 0;
    lanes->half_full = NULL;
    lanes->name = NULL;
    memset(&lanes->ended, 0, sizeof lanes->ended);
    lanes->ended_debt = lanes->ended_lost = 0;
}

void Lanes_ask_name(struct Lanes *lanes, struct Lane *lane)
{
    char name[sizeof lane->name] = "";

    lane->name_asks--;
    if (lanes->name)
        lanes->name(name, sizeof name);
    if (!*name)
        return;
    lane->name_asks = 0;
    pthread_mutex_lock(&lanes->mutex);
    memcpy(lane->name, name, sizeof name);
    pthread_mutex_unlock(&lanes->mutex);
}

void Lanes_copy_name(struct Lanes *lanes, const struct Lane *lane,
                     char name[64])
{
    pthread_mutex_lock(&lanes->mutex);
    memcpy(name, lane->name, sizeof lane->name);
    pthread_mutex_unlock(&lanes->mutex);
}

struct Lane *Lanes_add(struct Lanes *lanes, struct Registry *registry,
                       struct Contention *contention,
                       const int64_t cost[HOOK_KINDS], bool timeline,
                       uint64_t ticks)
{
    struct Lane *lane = Lane_new(0, registry, contention);
    char name[16] = "";

    if (!lane)
        return NULL;
    Lane_reset(lane, cost, ticks);
    if (timeline)
        lane->ring = Ring_new(lanes->half_full); // without one: statistics only
    lane->tid = gettid();
    prctl(PR_GET_NAME, name);
    snprintf(lane->name, sizeof lane->name, "%s", name);
    lane->name_asks = NAME_ASKS;
    Lanes_ask_name(lanes, lane);
    Lane_restart_cpu(lane);
    pthread_mutex_lock(&lanes->mutex);
    lane->number = lanes->next_number++;
    lane->next = lanes->first;
    lanes->first = lane;
    pthread_mutex_unlock(&lanes->mutex);
    return lane;
}

static uint64_t lane_debt(const struct Lane *lane)
{
    return Cell_get(&lane->debt) - Cell_get(&lane->kept);
}

static uint64_t lane_lost(const struct Lane *lane)
{
    return lane->ring ? Cell_get(&lane->ring->lost) : 0;
}

// Unlinks and frees the lane at *link, keeping its sums.
static void end_lane(struct Lanes *lanes, struct Lane **link)
{
    struct Lane *lane = *link;
    struct EndedThread thread = {.tid = lane->tid, .cpu_ns = Lane_cpu_ns(lane)};

    memcpy(thread.name, lane->name, sizeof thread.name);
    Ended_add(&lanes->ended, &thread);
    lanes->ended_debt += lane_debt(lane);
    lanes->ended_lost += lane_lost(lane);
    *link = lane->next;
    Lane_free(lane);
}

static bool has_ended(const struct Lane *lane)
{
    // Pairs with the release of the thread's exit: its last hook is over.
    return atomic_load_explicit(&lane->ended, memory_order_acquire);
}

// The mutex is dropped for the visit, which may take its time: only visitors
// free lanes, there is one at a time, and new lanes go in at the front, so that
// what comes after a lane stands still.
void Lanes_visit(struct Lanes *lanes,
                 void (*visit)(void *context, struct Lane *lane, bool ended),
                 void *context)
{
    struct Lane *lane, *next, **link;

    pthread_mutex_lock(&lanes->visiting);
    pthread_mutex_lock(&lanes->mutex);
    for (lane = lanes->first; lane; lane = next) {
        bool ended = has_ended(lane);

        pthread_mutex_unlock(&lanes->mutex);
        visit(context, lane, ended);
        pthread_mutex_lock(&lanes->mutex);
        next = lane->next;
        if (!ended)
            continue;
        for (link = &lanes->first; *link != lane; link = &(*link)->next)
            ;
        end_lane(lanes, link);
    }
    pthread_mutex_unlock(&lanes->mutex);
    pthread_mutex_unlock(&lanes->visiting);
}

static struct LaneThread thread_of(const struct Lane *lane)
{
    struct LaneThread thread = {
        .tid = lane->tid,
        .ended = has_ended(lane),
        .cpu_ns = Lane_cpu_ns(lane),
    };

    memcpy(thread.name, lane->name, sizeof thread.name);
    return thread;
}

static struct LaneThread thread_ended(const struct EndedThread *ended)
{
    struct LaneThread thread = {
        .tid = ended->tid, .ended = true, .cpu_ns = ended->cpu_ns};

    memcpy(thread.name, ended->name, sizeof thread.name);
    return thread;
}

long Lanes_threads(struct Lanes *lanes, struct LaneThread **threads,
                   uint64_t *dropped)
{
    const struct Ended *ended = &lanes->ended;
    const struct Lane *lane;
    size_t room, count = 0;

    pthread_mutex_lock(&lanes->mutex);
    room = ended->count;
    for (lane = lanes->first; lane; lane = lane->next)
        room++;
    *threads = Heap_alloc((room + 1) * sizeof **threads);
    for (lane = lanes->first; *threads && lane; lane = lane->next)
        (*threads)[count++] = thread_of(lane);
    for (size_t i = 0; *threads && i < ended->count; i++)
        (*threads)[count++] = thread_ended(&ended->threads[i]);
    *dropped = ended->dropped;
    pthread_mutex_unlock(&lanes->mutex);
    return *threads ? (long)count : -ENOMEM;
}

void Lanes_reset(struct Lanes *lanes, const int64_t cost[HOOK_KINDS],
                 bool timeline, uint64_t ticks)
{
    struct Lane **link;

    pthread_mutex_lock(&lanes->visiting);
    pthread_mutex_lock(&lanes->mutex);
    for (link = &lanes->first; *link;) {
        struct Lane *lane = *link;

        if (has_ended(lane)) {
            end_lane(lanes, link);
            continue;
        }
        Lane_reset(lane, cost, ticks);
        Lane_restart_cpu(lane);
        lane->track = NULL;
        Ring_free(lane->ring);
        lane->ring = timeline ? Ring_new(lanes->half_full) : NULL;
        link = &lane->next;
    }
    memset(&lanes->ended, 0, sizeof lanes->ended);
    lanes->ended_debt = lanes->ended_lost = 0;
    pthread_mutex_unlock(&lanes->mutex);
    pthread_mutex_unlock(&lanes->visiting);
}

void Lanes_set_cost(struct Lanes *lanes, const int64_t cost[HOOK_KINDS])
{
    struct Lane *lane;

    pthread_mutex_lock(&lanes->mutex);
    for (lane = lanes->first; lane; lane = lane->next)
        memcpy(lane->cost, cost, sizeof lane->cost);
    pthread_mutex_unlock(&lanes->mutex);
}

void Lanes_forget(struct Lanes *lanes, const struct Code *code)
{
    struct Lane *lane;

    pthread_mutex_lock(&lanes->mutex);
    for (lane = lanes->first; lane; lane = lane->next)
        Lane_forget(lane, code);
    pthread_mutex_unlock(&lanes->mutex);
}

struct LanesTotals Lanes_sum(struct Lanes *lanes)
{
    struct LanesTotals sum = {0};
    struct Lane *lane;

    pthread_mutex_lock(&lanes->mutex);
    sum.debt = lanes->ended_debt;
    sum.lost = lanes->ended_lost;
    for (lane = lanes->first; lane; lane = lane->next) {
        sum.count++;
        sum.debt += lane_debt(lane);
        sum.lost += lane_lost(lane);
        sum.bytes += sizeof *lane + Lane_stack_bytes(lane);
        if (lane->ring)
            sum.bytes += RING_EVENTS * sizeof(struct Event);
    }
    pthread_mutex_unlock(&lanes->mutex);
    return sum;
}

void Lanes_keep_only(struct Lanes *lanes, struct Lane *own)
{
    struct Lane *lane = lanes->first, *next;

    pthread_mutex_init(&lanes->visiting, NULL);
    pthread_mutex_init(&lanes->mutex, NULL);
    for (; lane; lane = next) {
        next = lane->next;
        if (lane != own)
            Lane_free(lane);
    }
    lanes->first = own;
    memset(&lanes->ended, 0, sizeof lanes->ended);
    if (!own)
        return;
    own->next = NULL;
    own->tid = gettid();               // the thread is another one in the child
    Preemption_init(&own->preemption); // its counts begin anew
    Lane_restart_cpu(own);
}
