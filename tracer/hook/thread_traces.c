// SPDX-License-Identifier: MIT
#include "tracer/hook/thread_traces.h"
#include "ipc/base/heap.h"
#include "tracer/code/registry.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NAME_ASKS 512
// This number of records at the front of the list is checked for an ended
// thread, whose record can be used again.
#define NEAR 16

void ThreadTraces_init(struct ThreadTraces *traces)
{
    pthread_mutex_init(&traces->visiting, NULL);
    pthread_mutex_init(&traces->mutex, NULL);
    traces->first = NULL;
    traces->next_number = 0;
    memset(traces->cost, 0, sizeof traces->cost);
    traces->half_full = NULL;
    traces->overflow = (struct RingOverflow){0};
    traces->name = NULL;
    memset(&traces->ended, 0, sizeof traces->ended);
    traces->ended_overhead = traces->ended_paid = traces->ended_lost = 0;
}

void ThreadTraces_ask_name(struct ThreadTraces *traces,
                           struct ThreadTrace *trace)
{
    char name[sizeof trace->name] = "";

    trace->name_asks--;
    if (traces->name)
        traces->name(name, sizeof name);
    if (!*name)
        return;
    trace->name_asks = 0;
    pthread_mutex_lock(&traces->mutex);
    memcpy(trace->name, name, sizeof name);
    pthread_mutex_unlock(&traces->mutex);
}

void ThreadTraces_copy_name(struct ThreadTraces *traces,
                            const struct ThreadTrace *trace, char name[64])
{
    pthread_mutex_lock(&traces->mutex);
    memcpy(name, trace->name, sizeof trace->name);
    pthread_mutex_unlock(&traces->mutex);
}

static struct Ring *new_ring(struct ThreadTraces *traces,
                             struct ThreadTrace *trace)
{
    struct Ring *ring = Ring_new(traces->half_full);

    if (ring) {
        ring->overflow = &traces->overflow;
        ring->producer = trace;
    }
    return ring;
}

static uint64_t overhead_of(const struct ThreadTrace *trace)
{
    return Counter_get(&trace->overhead) - Counter_get(&trace->stolen);
}

static uint64_t lost_of(const struct ThreadTrace *trace)
{
    return trace->ring ? Counter_get(&trace->ring->lost) : 0;
}

// Unlinks the record at *link, and adds its counts to the sums of ended
// threads.
static struct ThreadTrace *unlink_ended(struct ThreadTraces *traces,
                                        struct ThreadTrace **link)
{
    struct ThreadTrace *trace = *link;
    struct EndedThread thread = {.tid = trace->tid,
                                 .cpu_ns = ThreadTrace_cpu_ns(trace)};

    memcpy(thread.name, trace->name, sizeof thread.name);
    Ended_add(&traces->ended, &thread);
    traces->ended_overhead += overhead_of(trace);
    traces->ended_paid += Counter_get(&trace->paid);
    traces->ended_lost += lost_of(trace);
    *link = trace->next;
    return trace;
}

static void end_trace(struct ThreadTraces *traces, struct ThreadTrace **link)
{
    ThreadTrace_free(unlink_ended(traces, link));
}

// Takes the record of an ended thread out of the list, to use it again. Returns
// NULL if none of the first NEAR records belongs to an ended thread, or if
// another thread goes through the list. A record with a ring is not taken,
// because the ring can have events that must be read.
static struct ThreadTrace *take_ended(struct ThreadTraces *traces)
{
    struct ThreadTrace **link, *trace = NULL;

    if (pthread_mutex_trylock(&traces->visiting))
        return NULL;
    pthread_mutex_lock(&traces->mutex);
    link = &traces->first;
    for (int i = 0; !trace && *link && i < NEAR; i++) {
        if (ThreadTrace_has_ended(*link) && !(*link)->ring)
            trace = unlink_ended(traces, link);
        else
            link = &(*link)->next;
    }
    pthread_mutex_unlock(&traces->mutex);
    pthread_mutex_unlock(&traces->visiting);
    return trace;
}

// Returns a record of an ended thread or a new one. Reusing records is faster
// for programs that start a thread for each request, because the kernel
// provides new memory page by page.
static struct ThreadTrace *take_or_make(struct ThreadTraces *traces,
                                        struct Registry *registry,
                                        struct Contention *contention)
{
    struct ThreadTrace *trace = take_ended(traces);

    if (!trace)
        return ThreadTrace_new(registry, contention, traces->cost);
    if (contention->last_trace == trace)
        // `last_trace` points to this record, but meant the ended thread.
        contention->last_trace = NULL;
    trace->track = NULL;
    trace->counted_busy = false;
    atomic_store_explicit(&trace->ended, false, memory_order_relaxed);
    return trace;
}

struct ThreadTrace *ThreadTraces_add(struct ThreadTraces *traces,
                                     struct Registry *registry,
                                     struct Contention *contention,
                                     bool timeline, uint64_t ticks)
{
    struct ThreadTrace *trace = take_or_make(traces, registry, contention);
    char name[16] = "";

    if (!trace)
        return NULL;
    ThreadTrace_reset(trace, ticks);
    if (timeline)
        // Without a ring, the thread is counted but not shown in the timeline.
        trace->ring = new_ring(traces, trace);
    trace->tid = gettid();
    trace->ident = (uintptr_t)pthread_self();
    ThreadTrace_set_state(trace, 0, 0, 0);
    prctl(PR_GET_NAME, name);
    // The module threading gives the main thread the name "MainThread", but the
    // program may import threading later, or not at all.
    snprintf(trace->name, sizeof trace->name, "%s",
             trace->tid == getpid() ? "MainThread" : name);
    trace->name_asks = NAME_ASKS;
    ThreadTraces_ask_name(traces, trace);
    ThreadTrace_restart_cpu(trace);
    pthread_mutex_lock(&traces->mutex);
    trace->number = traces->next_number++;
    trace->next = traces->first;
    traces->first = trace;
    pthread_mutex_unlock(&traces->mutex);
    return trace;
}

// The mutex is not held during `visit`, which can take long. The walk over the
// list is safe without the mutex, because only a holder of `visiting` removes
// records, and new records are added at the front. The rest of the list behind
// the present record therefore does not change.
void ThreadTraces_visit(struct ThreadTraces *traces,
                        void (*visit)(void *context, struct ThreadTrace *trace,
                                      bool ended),
                        void *context)
{
    struct ThreadTrace *trace, *next, **link;

    pthread_mutex_lock(&traces->visiting);
    pthread_mutex_lock(&traces->mutex);
    for (trace = traces->first; trace; trace = next) {
        bool ended = ThreadTrace_has_ended(trace);

        pthread_mutex_unlock(&traces->mutex);
        visit(context, trace, ended);
        pthread_mutex_lock(&traces->mutex);
        next = trace->next;
        if (!ended)
            continue;
        for (link = &traces->first; *link != trace; link = &(*link)->next)
            ;
        end_trace(traces, link);
    }
    pthread_mutex_unlock(&traces->mutex);
    pthread_mutex_unlock(&traces->visiting);
}

static struct TracedThread thread_of(const struct ThreadTrace *trace)
{
    struct TracedThread thread = {
        .tid = trace->tid,
        .ended = ThreadTrace_has_ended(trace),
        .cpu_ns = ThreadTrace_cpu_ns(trace),
    };

    memcpy(thread.name, trace->name, sizeof thread.name);
    return thread;
}

static struct TracedThread thread_ended(const struct EndedThread *ended)
{
    struct TracedThread thread = {
        .tid = ended->tid, .ended = true, .cpu_ns = ended->cpu_ns};

    memcpy(thread.name, ended->name, sizeof thread.name);
    return thread;
}

long ThreadTraces_threads(struct ThreadTraces *traces,
                          struct TracedThread **threads, uint64_t *dropped)
{
    const struct Ended *ended = &traces->ended;
    const struct ThreadTrace *trace;
    size_t room, count = 0;

    pthread_mutex_lock(&traces->mutex);
    room = ended->count;
    for (trace = traces->first; trace; trace = trace->next)
        room++;
    *threads = Heap_alloc((room + 1) * sizeof **threads);
    for (trace = traces->first; *threads && trace; trace = trace->next)
        (*threads)[count++] = thread_of(trace);
    for (size_t i = 0; *threads && i < ended->count; i++)
        (*threads)[count++] = thread_ended(&ended->threads[i]);
    *dropped = ended->dropped;
    pthread_mutex_unlock(&traces->mutex);
    return *threads ? (long)count : -ENOMEM;
}

void ThreadTraces_reset(struct ThreadTraces *traces, bool timeline,
                        uint64_t ticks)
{
    struct ThreadTrace **link;

    pthread_mutex_lock(&traces->visiting);
    pthread_mutex_lock(&traces->mutex);
    for (link = &traces->first; *link;) {
        struct ThreadTrace *trace = *link;

        if (ThreadTrace_has_ended(trace)) {
            end_trace(traces, link);
            continue;
        }
        ThreadTrace_reset(trace, ticks);
        ThreadTrace_restart_cpu(trace);
        trace->track = NULL;
        Ring_free(trace->ring);
        trace->ring = timeline ? new_ring(traces, trace) : NULL;
        link = &trace->next;
    }
    memset(&traces->ended, 0, sizeof traces->ended);
    traces->ended_overhead = traces->ended_paid = traces->ended_lost = 0;
    pthread_mutex_unlock(&traces->mutex);
    pthread_mutex_unlock(&traces->visiting);
}

void ThreadTraces_forget(struct ThreadTraces *traces, const struct Code *code)
{
    struct ThreadTrace *trace;

    pthread_mutex_lock(&traces->mutex);
    for (trace = traces->first; trace; trace = trace->next)
        ThreadTrace_forget(trace, code);
    pthread_mutex_unlock(&traces->mutex);
}

void ThreadTraces_look(struct ThreadTraces *traces, struct Registry *registry)
{
    const struct ThreadTrace *trace;

    Latency_look(&registry->latencies);
    pthread_mutex_lock(&traces->mutex);
    for (trace = traces->first; trace; trace = trace->next)
        if (!ThreadTrace_has_ended(trace))
            ThreadTrace_look(trace);
    pthread_mutex_unlock(&traces->mutex);
}

struct ThreadTotals ThreadTraces_sum(struct ThreadTraces *traces)
{
    struct ThreadTotals sum = {0};
    struct ThreadTrace *trace;

    pthread_mutex_lock(&traces->mutex);
    sum.overhead = traces->ended_overhead;
    sum.paid = traces->ended_paid;
    sum.lost = traces->ended_lost;
    for (trace = traces->first; trace; trace = trace->next) {
        sum.overhead += overhead_of(trace);
        sum.paid += Counter_get(&trace->paid);
        sum.lost += lost_of(trace);
    }
    pthread_mutex_unlock(&traces->mutex);
    return sum;
}

void ThreadTraces_keep_only(struct ThreadTraces *traces,
                            struct ThreadTrace *own)
{
    struct ThreadTrace *trace = traces->first, *next;

    pthread_mutex_init(&traces->visiting, NULL);
    pthread_mutex_init(&traces->mutex, NULL);
    for (; trace; trace = next) {
        next = trace->next;
        if (trace != own)
            ThreadTrace_free(trace);
    }
    traces->first = own;
    memset(&traces->ended, 0, sizeof traces->ended);
    if (!own)
        return;
    own->next = NULL;
    // The thread has another id in the forked child.
    own->tid = gettid();
    // The kernel counts CPU time and context switches in the child from 0.
    Preemption_init(&own->preemption);
    ThreadTrace_restart_cpu(own);
}
