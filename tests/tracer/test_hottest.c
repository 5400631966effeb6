// SPDX-License-Identifier: MIT
// Tests tracer/budget/hottest. The tests check the ranked functions and their
// order, also while hooks write.
#include "tracer/budget/hottest.h"

#include "tests/tracer/make_engine.h"

#include "tests/unit.h"

static struct Engine engine;
static struct Hottest hottest;

static struct Code *called(uint64_t calls, uint64_t seen)
{
    struct Code *code = add_code(&engine, "f", 500);

    Counter_set(&code->hot.entries, calls);
    Counter_set(&code->hot.last_seen, seen);
    return code;
}

static void rank(uint64_t ticks)
{
    Hottest_rank(&hottest, engine.registry, ticks, NULL);
}

static void expect(unsigned count, struct Code *const codes[])
{
    assert_int_equal(hottest.count, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(hottest.ids[i], codes[i]->hot.id);
}

static int set_up(void **state), tear_down(void **state);

TEST_WITH(test_by_hits_since_the_last_time, set_up, tear_down)
{
    struct Code *some = called(10, 100), *many = called(900, 100);
    struct Code *never = called(0, 0), *loops = called(1, 100);

    (void)state, (void)never;
    Counter_set(&loops->layout.sites[1].hits, 50);
    rank(1000);
    expect(3, (struct Code *[]){many, loops, some});
    rank(2000); // No function was called.
    expect(0, NULL);
    Counter_add(&some->hot.entries, 5);
    Counter_set(&some->hot.last_seen, 2500);
    Counter_add(&many->hot.entries, 2);
    Counter_set(&many->hot.last_seen, 2500);
    rank(3000);
    expect(2, (struct Code *[]){some, many});
}

// A sampled function comes before functions that only have hits, even if they
// have many hits and the sampled function is dark.
TEST_WITH(test_by_share, set_up, tear_down)
{
    struct Code *busy = called(1000000, 100), *dark = called(500, 100);
    struct Code *darker = called(500, 100);
    const struct ShareTime now = {.ns = 1.1e9, .full_ns = 1e9};

    rank(200);
    ShareValue_add(&dark->share.cpu, &now, 10e6);
    ShareValue_add(&darker->share.cpu, &now, 90e6);
    Counter_add(&busy->hot.entries, 1000000);
    Counter_set(&busy->hot.last_seen, 300);
    Hottest_rank(&hottest, engine.registry, 400, &now);
    expect(3, (struct Code *[]){darker, dark, busy});
    rank(500); // Without a sampler there is no share.
    expect(0, NULL);
}

static int set_up(void **state)
{
    (void)state;
    make_engine(&engine);
    memset(&hottest, 0, sizeof hottest);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    Engine_release(&engine);
    return 0;
}
