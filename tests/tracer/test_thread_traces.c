// SPDX-License-Identifier: MIT
// Tests tracer/hook/thread_traces. Records come with their threads, the sums of
// ended threads stay, and threads start and end while the collector's thread
// visits records.
#define _GNU_SOURCE 1 // for gettid().
#include "ipc/base/heap.h"
#include "tracer/hook/thread_traces.h"

#include "tests/sanitizers.h"
#include "tracer/code/registry.h"

#include <time.h>
#include <unistd.h>

#include "tests/unit.h"

struct Fixture {
    struct ThreadTraces traces;
    struct Contention contention;
    struct Registry *registry;
};

static struct ThreadTrace *add(struct Fixture *f, bool timeline)
{
    struct ThreadTrace *trace = ThreadTraces_add(
        &f->traces, f->registry, &f->contention, timeline, 1000);

    assert_non_null(trace);
    return trace;
}

static void end(struct ThreadTrace *trace)
{
    atomic_store_explicit(&trace->ended, true, memory_order_release);
}

struct Visits {
    unsigned count;
    unsigned sum; // Sum of the threads' numbers, each plus one
    unsigned ended;
};

// If each request has its own thread, the threads use one record one after the
// other. The record keeps nothing of the earlier thread.
TEST_FIXTURE(test_an_ended_record_is_used_again)
{
    struct ThreadTrace *stays = add(f, false), *first = add(f, false), *second;
    struct ThreadTotals sum;

    Counter_set(&first->overhead, 30);
    first->track = (struct Track *)first;
    first->counted_busy = true;
    first->active[5] = 7;
    first->top = first->bottom + 3;
    f->contention.last_trace = first;
    end(first);
    second = add(f, false);
    assert_ptr_equal(second, first);
    assert_int_equal(second->number, 2);
    assert_false(second->ended || second->counted_busy || second->active[5]);
    assert_null(second->track);
    assert_ptr_equal(second->top, second->bottom);
    assert_null(f->contention.last_trace);
    assert_int_equal(f->traces.ended.count, 1);
    sum = ThreadTraces_sum(&f->traces);
    assert_int_equal(sum.count, 2);
    assert_int_equal(sum.overhead, 30);
    end(stays);
    f->contention.last_trace = second;
    // The visitor takes this record from the end of the list.
    assert_ptr_equal(add(f, true), stays);
    assert_ptr_equal(f->contention.last_trace, second);
}

enum { THREADS = 3, LIVES = UNDER_TSAN ? 20 : 60, EVENTS = 500 };

struct Race {
    struct Fixture *fixture;
    bool timeline;
    _Atomic bool stop;
    uint64_t drained; // Number of events that the visitor has drained
};

// Runs short threads one after the other, each with a record.
static void *live(void *context)
{
    struct Race *race = context;

    for (int i = 0; i < EVENTS; i++) {
        static _Thread_local struct ThreadTrace *own;

        if (!own)
            own = add(race->fixture, race->timeline);
        Counter_add(&own->overhead, 1);
        if (own->ring)
            Ring_push(own->ring, (uint64_t)i, EVENT_ENTER, 1);
        if (i == EVENTS - 1)
            end(own);
    }
    return NULL;
}

static void *start_lives(void *context)
{
    for (int i = 0; i < LIVES; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, live, context))
            abort();
        pthread_join(thread, NULL);
    }
    return NULL;
}

static void drain(void *context, struct ThreadTrace *trace, bool ended)
{
    struct Race *race = context;
    const struct Event *events;
    size_t count;

    (void)ended;
    while (trace->ring && (count = Ring_peek(trace->ring, &events)) > 0) {
        race->drained += count;
        Ring_pop(trace->ring, count);
    }
}

static void *visit_all(void *context)
{
    struct Race *race = context;
    const struct timespec pause = {0, 100000};
    bool stop;

    do {
        stop = race->stop;
        ThreadTraces_visit(&race->fixture->traces, drain, race);
        nanosleep(&pause, NULL);
    } while (!stop);
    return NULL;
}

static void come_and_go_under_visits(struct Fixture *f, bool timeline)
{
    struct Race race = {.fixture = f, .timeline = timeline};
    pthread_t visitor, threads[THREADS];

    pthread_create(&visitor, NULL, visit_all, &race);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, start_lives, &race);
    for (int i = 0; i < 50; i++) {
        struct TracedThread *rows;
        uint64_t dropped;

        assert_true(ThreadTraces_threads(&f->traces, &rows, &dropped) >= 0);
        Heap_free(rows);
        assert_true(ThreadTraces_sum(&f->traces).overhead <=
                    THREADS * LIVES * EVENTS);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    race.stop = true;
    pthread_join(visitor, NULL);
    // Every event that an ended thread left in its ring was drained.
    assert_int_equal(race.drained, timeline ? THREADS * LIVES * EVENTS : 0);
    assert_int_equal(ThreadTraces_sum(&f->traces).overhead,
                     THREADS * LIVES * EVENTS);
    assert_int_equal(ThreadTraces_sum(&f->traces).lost, 0);
    assert_int_equal(ThreadTraces_sum(&f->traces).count, 0);
}

TEST_FIXTURE(test_threads_come_and_go_under_visits)
{
    come_and_go_under_visits(f, true);
}

// The records of ended threads are used again during the visits.
TEST_FIXTURE(test_threads_without_rings_come_and_go)
{
    come_and_go_under_visits(f, false);
}

static void set_up(struct Fixture *f)
{
    ThreadTraces_init(&f->traces);
    // The clock is so fast that no interval between events is long, so the
    // kernel is never asked about one.
    Contention_init(&f->contention, 1e15);
    f->registry = Registry_new();
}

static void tear_down(struct Fixture *f)
{
    ThreadTraces_keep_only(&f->traces, NULL);
    Registry_free(f->registry);
}
