// SPDX-License-Identifier: MIT
// Tests tracer/session/collector: snapshots are built while code comes and
// goes.
#include "tracer/session/collector.h"

#include "tests/formats/frozen.h"
#include "tests/tracer/make_engine.h"
#include "tracer/session/collect.h"
#include "tracer/session/costs.h"

#include <sched.h>

#include "tests/unit.h"

struct Fixture {
    struct Engine engine;
    struct Session session;
    struct Collector *collector;
};

struct Race {
    struct Fixture *fixture;
    _Atomic bool stop;
    _Atomic uint64_t read;
    _Atomic unsigned wrong;
    _Atomic uint64_t made;
};

// Builds snapshots. In each, every code object must be in exactly one list.
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
        // The snapshot can contain code objects that were made while it was
        // built.
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
        // Waits, so that there is at least one snapshot for every 200 code
        // objects.
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
