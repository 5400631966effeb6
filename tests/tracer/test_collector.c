// SPDX-License-Identifier: MIT
// Tests tracer/session/collector. The collector's thread empties rings into the
// timeline, and frees retired code that readers still use.
#include "tracer/session/collector.h"

#include "ipc/base/now.h"
#include "tests/formats/frozen.h"
#include "tests/rest.h"
#include "tests/sanitizers.h"
#include "tests/tracer/make_engine.h"
#include "tracer/base/rcu.h"
#include "tracer/session/collect.h"
#include "tracer/session/costs.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

#include "tests/unit.h"

struct Fixture {
    struct Engine engine;
    struct Session session;
    struct Collector *collector;
};

static void *wait_once(void *context)
{
    struct Fixture *f = context;
    intptr_t error = Collector_wait(f->collector, 60000);

    return (void *)error;
}

TEST_FIXTURE(test_many_wait_at_once)
{
    pthread_t threads[8];
    void *result;

    Collector_start(f->collector);
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, wait_once, f);
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], &result);
        assert_null(result);
    }
    Collector_stop(f->collector);
}

static void *stop_it(void *context)
{
    Collector_stop(((struct Fixture *)context)->collector);
    return NULL;
}

TEST_FIXTURE(test_who_waits_hears_of_the_end)
{
    pthread_t waiter, stopper;
    double began = Now_s(CLOCK_MONOTONIC);
    void *result;

    Collector_start(f->collector);
    pthread_mutex_lock(&f->engine.traces.mutex);
    pthread_create(&waiter, NULL, wait_once, f);
    for (bool wanted = false; !wanted; sched_yield()) {
        pthread_mutex_lock(&f->collector->mutex);
        wanted = f->collector->wanted == 1;
        pthread_mutex_unlock(&f->collector->mutex);
    }
    pthread_create(&stopper, NULL, stop_it, f);
    pthread_join(waiter, &result);
    assert_int_equal((intptr_t)result, -ESHUTDOWN);
    assert_true(Now_s(CLOCK_MONOTONIC) - began < 50);
    pthread_mutex_unlock(&f->engine.traces.mutex);
    pthread_join(stopper, NULL);
}

struct Race {
    struct Fixture *fixture;
    _Atomic bool stop;
    _Atomic uint64_t read;
    _Atomic unsigned wrong;
    _Atomic uint64_t made;
};

static void *read_registry(void *context)
{
    struct Race *race = context;
    struct Registry *registry = race->fixture->engine.registry;

    while (!race->stop) {
        struct Code *code;
        uint32_t id = 0;

        Rcu_read_lock();
        for (code = Registry_first(registry); code;
             code = Registry_next(code)) {
            race->wrong += strcmp(code->who.name, "f") != 0;
            race->wrong += Code_events(code) > 1;
            // The registry keeps its order while code comes and goes.
            race->wrong += code->hot.id <= id;
            id = code->hot.id;
            race->read++;
        }
        Rcu_read_unlock();
    }
    return NULL;
}

// Drains rings as an export does.
static void *drain_too(void *context)
{
    struct Race *race = context;

    while (!race->stop) {
        Collect_drain(&race->fixture->session);
        rest_ms(1);
    }
    return NULL;
}

TEST_FIXTURE(test_code_goes_under_readers)
{
    struct Race race = {.fixture = f};
    struct Code *alive[16] = {NULL};
    struct PerfettoName name;
    struct NameQuery query;
    pthread_t threads[2];
    uint32_t count = 0;

    Collector_start(f->collector);
    pthread_create(&threads[0], NULL, read_registry, &race);
    pthread_create(&threads[1], NULL, drain_too, &race);
    while (count < FEWER(5000) || race.read < FEWER(5000)) {
        struct Code **slot = &alive[count++ % 16];

        if (*slot)
            Engine_retire(&f->engine, *slot);
        *slot = add_code(&f->engine, "f", 500);
        Counter_add(&(*slot)->hot.entries, 1);
        Code_touch(*slot);
        if (count % 100 == 0) {
            assert_int_equal(Collector_wait(f->collector, 60000), 0);
            rest_ms(1);
        }
    }
    race.stop = true;
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    Collector_stop(f->collector);
    Collect_drain(&f->session);
    assert_int_equal(race.wrong, 0);
    assert_int_equal(f->session.retired.events, count - 16);
    assert_int_equal(f->engine.names.count, count - 16);
    NameQuery_init(&query, &f->engine.names, f->engine.registry);
    assert_true(NameQuery_find(&query, count - 20, &name));
    NameQuery_release(&query);
}

// In every snapshot each code object is in exactly one of the lists.
static void *build_always(void *context)
{
    struct Race *race = context;

    while (!race->stop) {
        const struct Snapshot *published;
        struct Snapshot whole = {0}, *snapshot = &whole;
        uint64_t objects = 0, calls = 0, at_least = race->made;

        Collect_build(&race->fixture->session);
        published = Publish_get(&race->fixture->session.publish);
        race->wrong += RowSet_whole(published, snapshot) != 0;
        for (size_t i = 0; i < snapshot->function_count; i++) {
            calls += snapshot->functions[i].calls;
            objects++;
        }
        for (size_t i = 0; i < snapshot->retired_count; i++) {
            calls += snapshot->retired[i].calls;
            objects += snapshot->retired[i].objects;
        }
        // The snapshot can also contain code objects that were made in the
        // meantime.
        race->wrong +=
            objects != calls || objects < at_least || objects > race->made + 1;
        race->read++;
        Publish_put(&race->fixture->session.publish);
        Arena_release(&whole.arena);
    }
    return NULL;
}

TEST_FIXTURE(test_each_is_counted_once)
{
    struct Race race = {.fixture = f};
    // The list has so many code objects that the list changes while a builder
    // reads it.
    struct Code *alive[1000] = {NULL};
    pthread_t thread;

    pthread_create(&thread, NULL, build_always, &race);
    for (unsigned i = 0; i < 10000; i++) {
        struct Code **slot = &alive[i * 7 % 1000];

        if (*slot)
            Engine_retire(&f->engine, *slot);
        *slot = add_code(&f->engine, "f", 500);
        Counter_add(&(*slot)->hot.entries, 1);
        Code_touch(*slot);
        race.made++;
        // A snapshot is built for about every 200 code objects, however fast
        // the builder is.
        while (race.read < i / 200)
            sched_yield();
    }
    race.stop = true;
    pthread_join(thread, NULL);
    assert_int_equal(race.wrong, 0);
}

static void set_up(struct Fixture *f)
{
    make_engine(&f->engine);
    f->session.engine = &f->engine;
    f->session.timeline = Frozen_timeline(64 << 20);
    f->session.start_ticks = Clock_read(&f->engine.clock);
    f->collector = &f->session.collector;
    Collect_init(&f->session);
    Costs_init(&f->session);
}

static void tear_down(struct Fixture *f)
{
    Collector_stop(f->collector);
    Publish_set(&f->session.publish, NULL);
    Roll_release(&f->session.roll);
    RowLog_release(&f->session.rows);
    Retired_release(&f->session.retired);
    if (f->session.timeline)
        Timeline_free(f->session.timeline);
    Engine_release(&f->engine);
}
