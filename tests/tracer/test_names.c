// SPDX-License-Identifier: MIT
// tracer/timeline/names: the living, the retired, those that are forgotten, and
// an asker while code comes and goes.
#include "ipc/base/heap.h"
#include "tracer/timeline/names.h"

#include "tests/tracer/make_code.h"
#include "tracer/base/rcu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

struct Fixture {
    struct Names names;
    struct Registry *registry;
    struct NameQuery query;
};

static struct Code *named(uint32_t id)
{
    struct Code *code = make_code(id, 0x1000 + 16 * (uintptr_t)id);
    char text[32];

    snprintf(text, sizeof text, "name%u", id);
    Heap_free(code->who.name);
    code->who.name = Heap_text(text);
    code->who.line = id + 1;
    return code;
}

static struct Code *add(struct Fixture *f)
{
    struct Code *code = named(Registry_next_id(f->registry));

    Registry_add(f->registry, code);
    return code;
}

static void retire(struct Fixture *f, uint32_t id)
{
    struct Code *code = named(id);

    Names_retire(&f->names, code);
    Code_free(code);
}

static void expect(struct Fixture *f, uint32_t id)
{
    struct PerfettoName name = {NULL, NULL, 0, 0};
    char text[32];

    snprintf(text, sizeof text, "name%u", id);
    assert_true(NameQuery_find(&f->query, id, &name));
    assert_string_equal(name.name, text);
    assert_string_equal(name.file, "file.py");
    assert_int_equal(name.line, id + 1);
    assert_int_equal(name.address, 0x1000 + 16 * (uintptr_t)id);
}

static void expect_nobody(struct Fixture *f, uint32_t id)
{
    struct PerfettoName name;

    assert_false(NameQuery_find(&f->query, id, &name));
}

static void test_the_retired(void **state)
{
    struct Fixture *f = *state;
    struct Code *code = add(f);

    Registry_retire(f->registry, code, 1);
    assert_ptr_equal(Registry_take_retired(f->registry, UINT64_MAX), code);
    Names_retire(&f->names, code);
    assert_null(code->who.name); // moved, not copied
    assert_null(code->who.file);
    Code_free(code);
    expect(f, 1);
    retire(f, 77);
    expect(f, 77);
    expect(f, 1);
    expect_nobody(f, 0); // no function has id 0, also while slots are free
}

// Once around and more: the oldest are forgotten, one for one.
static void test_the_ring_wraps(void **state)
{
    struct Fixture *f = *state;
    const uint32_t more = NAMES_ROOM / 2 + 3, all = NAMES_ROOM + more;

    for (uint32_t i = 1; i <= all; i++)
        retire(f, 5 * i);
    for (uint32_t i = 1; i <= all; i++) {
        if (i <= more)
            expect_nobody(f, 5 * i);
        else
            expect(f, 5 * i);
        expect_nobody(f, 5 * i + 1);
    }
}

// --- An asker while code comes and goes --------------------------------------

struct Race {
    struct Fixture *fixture;
    _Atomic bool stop;
    _Atomic uint32_t newest;
    _Atomic uint64_t answers;
    _Atomic unsigned wrong;
};

static void *ask_all(void *context)
{
    struct Race *race = context;
    struct Fixture *f = race->fixture;
    struct NameQuery query;
    struct PerfettoName name;
    uint32_t id = 1;
    char text[32];

    NameQuery_init(&query, &f->names, f->registry);
    while (!race->stop) {
        id = id % (race->newest + 1) + 1;
        snprintf(text, sizeof text, "name%u", id);
        // Between registry and names there is a moment in neither.
        if (!NameQuery_find(&query, id, &name))
            continue;
        race->wrong += strcmp(name.name, text) != 0 || name.line != id + 1;
        race->answers++;
    }
    NameQuery_release(&query);
    return NULL;
}

static void *collect(void *context)
{
    struct Race *race = context;
    struct Code *code, *next;
    bool stop;

    do {
        stop = race->stop;
        code = Registry_take_retired(race->fixture->registry, UINT64_MAX);
        if (code)
            Rcu_synchronize();
        for (; code; code = next) {
            next = code->node.next_retired;
            Names_retire(&race->fixture->names, code);
            Code_free(code);
        }
    } while (!stop);
    return NULL;
}

static void test_asked_while_code_comes_and_goes(void **state)
{
    struct Race race = {.fixture = *state};
    struct Code *alive[32] = {NULL};
    pthread_t threads[2];

    pthread_create(&threads[0], NULL, ask_all, &race);
    pthread_create(&threads[1], NULL, collect, &race);
    for (unsigned i = 0; i < 20000 || race.answers < 1000; i++) {
        if (alive[i % 32])
            Registry_retire(race.fixture->registry, alive[i % 32], 1);
        alive[i % 32] = add(race.fixture);
        race.newest = alive[i % 32]->hot.id;
    }
    race.stop = true;
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert_int_equal(race.wrong, 0);
    expect(race.fixture, race.newest);
    expect(race.fixture, race.newest - 100); // retired
}

static int set_up(void **state)
{
    struct Fixture *f = calloc(1, sizeof *f);

    Names_init(&f->names);
    f->registry = Registry_new();
    NameQuery_init(&f->query, &f->names, f->registry);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct Fixture *f = *state;

    NameQuery_release(&f->query);
    Names_release(&f->names);
    Registry_free(f->registry);
    free(f);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_retired),
        TEST(test_the_ring_wraps),
        TEST(test_asked_while_code_comes_and_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
