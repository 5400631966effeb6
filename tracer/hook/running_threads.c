// SPDX-License-Identifier: MIT
#include "tracer/hook/running_threads.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"

#include <errno.h>
#include <unistd.h>

struct Found {
    struct RunningThread *threads;
    // The record of each thread in `threads`, or NULL.
    struct ThreadTrace **traces;
    size_t count;
    // A hash table with thread ids as keys. An entry is 1 plus the index of the
    // thread in `threads`, or 0 if the entry is free.
    uint32_t *places;
    size_t mask; // Number of entries of `places` minus 1.
};

static bool init(struct Found *found, size_t most)
{
    size_t places = 16;

    while (places < 2 * most)
        places *= 2;
    found->mask = places - 1;
    found->threads = Heap_zeroed(most + 1, sizeof *found->threads);
    found->traces = Heap_zeroed(most + 1, sizeof(struct ThreadTrace *));
    found->places = Heap_zeroed(places, sizeof *found->places);
    return found->threads && found->traces && found->places;
}

// Returns the entry of `places` for the thread. If the thread has no entry yet,
// returns the free entry that the thread will get.
static uint32_t *place_of(const struct Found *found, pid_t tid)
{
    for (size_t at = (size_t)tid;; at++) {
        uint32_t *place = &found->places[at & found->mask];

        if (!*place || found->threads[*place - 1].tid == tid)
            return place;
    }
}

// Adds a thread to `found`. Returns NULL if the thread was already added.
static struct RunningThread *add(struct Found *found, pid_t tid,
                                 struct ThreadTrace *trace)
{
    uint32_t *place = place_of(found, tid);

    if (*place)
        return NULL;
    found->traces[found->count] = trace;
    found->threads[found->count].tid = tid;
    *place = (uint32_t)++found->count;
    return &found->threads[*place - 1];
}

static struct StateListed *find_state(struct StateListed *states, size_t count,
                                      const struct ThreadTrace *trace)
{
    size_t from = 0, to = ThreadTrace_state(trace) ? count : 0;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (states[middle].id == trace->state_id)
            return &states[middle];
        if (states[middle].id > trace->state_id)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

// Assigns each thread state to the thread that last ran this state.
static void match_records(struct ThreadTraces *traces,
                          struct StateListed *states, size_t count)
{
    struct ThreadTrace *trace, *loser;

    for (trace = traces->first; trace; trace = trace->next) {
        struct StateListed *state = find_state(states, count, trace);

        if (ThreadTrace_has_ended(trace))
            continue;
        loser = trace;
        if (state &&
            (!state->trace || state->trace->state_ticks < trace->state_ticks)) {
            loser = state->trace;
            state->trace = trace;
        }
        if (loser)
            ThreadTrace_set_state(loser, 0, 0, 0);
    }
}

static void add_records(struct Found *found, struct ThreadTraces *traces,
                        struct StateListed *states, size_t count)
{
    struct ThreadTrace *trace;

    for (trace = traces->first; trace; trace = trace->next) {
        const struct StateListed *state = find_state(states, count, trace);
        struct RunningThread *thread;

        if (ThreadTrace_has_ended(trace) || (state && state->ours))
            continue;
        thread = add(found, trace->tid, trace);
        // If two records have the same thread id, the thread of the older
        // record has ended, but Ocular has not seen it end.
        if (!thread)
            continue;
        thread->state = ThreadTrace_state(trace);
        thread->ident = trace->ident;
        thread->number = trace->number + 1;
    }
}

static void add_named(struct Found *found, const struct StateListed *state,
                      pid_t tid)
{
    struct RunningThread *thread = add(found, tid, NULL);
    size_t at = *place_of(found, tid) - 1;

    if (thread)
        thread->ident = state->ident;
    if (found->threads[at].state)
        return;
    found->threads[at].state = state->address;
    if (found->traces[at])
        ThreadTrace_set_state(found->traces[at], state->address, state->id, 0);
}

// Assigns a thread state that no hook has seen to the thread whose id is in the
// state. In a child that C code has forked, the thread states contain ids of
// the parent's threads, and only the main thread exists. The oldest thread
// state is most likely the state of the main thread.
static void match_names(struct Found *found, const struct StateListed *states,
                        size_t count, bool has_run)
{
    const struct StateListed *oldest = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct StateListed *state = &states[i];

        if (state->trace || state->ours || state->has_run != has_run)
            continue;
        if (Now_ns(Now_clock_of(state->tid)))
            add_named(found, state, state->tid);
        else if (has_run)
            oldest = state;
    }
    if (oldest)
        add_named(found, oldest, getpid());
}

long RunningThreads_find(struct ThreadTraces *traces,
                         struct StateListed *states, size_t count,
                         struct RunningThread **threads)
{
    const struct ThreadTrace *trace;
    struct Found found = {.count = 0};
    size_t most = count + 1;
    bool whole;

    pthread_mutex_lock(&traces->mutex);
    for (trace = traces->first; trace; trace = trace->next)
        most++;
    whole = init(&found, most);
    if (whole) {
        match_records(traces, states, count);
        add_records(&found, traces, states, count);
        match_names(&found, states, count, true);
        // Thread states that never ran come last.
        match_names(&found, states, count, false);
    }
    pthread_mutex_unlock(&traces->mutex);
    Heap_free(found.traces);
    Heap_free(found.places);
    *threads = found.threads;
    if (whole)
        return (long)found.count;
    Heap_free(found.threads);
    *threads = NULL;
    return -ENOMEM;
}
