// SPDX-License-Identifier: MIT
// tracer/code/active, budget/idle: which functions are walked over, that none
// is lost, and how one that was idle takes part in a slice.
#include "tracer/budget/idle.h"
#include "tracer/code/spans.h"

#include "tests/tracer/make_engine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define HZ 1e9
#define SECOND UINT64_C(1000000000)
#define ROUNDS 20000

static struct Engine engine;
static struct Active *active;

// Called a minute ago, and armed for good.
static struct Code *called(void)
{
    struct Code *code = add_code(&engine, "f", 500);

    Counter_set(&code->hot.last_seen, SECOND);
    Counter_set(&code->hot.entries, 10);
    code->hot.stop_at = 510;
    code->cold.jumps = false;
    code->spans.arming = ARMED_ALWAYS;
    Spans_open(code, SECOND);
    return code;
}

static bool is_listed(const struct Code *code)
{
    bool found = false;

    Active_begin(active);
    for (size_t i = 0; i < active->count; i++)
        found |= active->codes[i] == code;
    Active_end(active);
    return found;
}

// As the governor does, of those that it has walked over.
static bool let_go(struct Code *code, uint64_t ticks)
{
    is_listed(code);
    return Active_let_go(active, code, ticks);
}

static void test_who_is_on_the_list(void **state)
{
    struct Code *a = called(), *b = called();

    (void)state;
    assert_true(is_listed(a) && is_listed(b));
    assert_true(let_go(a, 2 * SECOND));
    assert_false(let_go(a, 2 * SECOND)); // it is idle already
    assert_false(is_listed(a));
    assert_true(is_listed(b));
    Active_hit(active, a, 3 * SECOND);
    assert_true(is_listed(a));
    assert_true(let_go(a, 2 * SECOND));
    Code_touch(a); // before anybody has walked
    assert_true(is_listed(a));
    Active_begin(active);
    assert_int_equal(active->count, 2);
    Active_end(active);
}

static void test_who_may_be_idle(void **state)
{
    struct Code *code = called();

    (void)state;
    assert_false(let_go(code, SECOND)); // it was hit since
    code->plan.sampled_ns = 1;
    assert_false(let_go(code, 2 * SECOND));
    code->plan.sampled_ns = 0;
    code->hot.dark = true;
    assert_false(let_go(code, 2 * SECOND));
    code->cold.unarmed = true; // it has run once
    assert_true(let_go(code, 2 * SECOND));
    Code_wake(code);
    code->cold.again = true;
    assert_false(let_go(code, 2 * SECOND));
    code->hot.dark = code->cold.unarmed = false;
    code->spans.arming = ARMED_SLICES;
    assert_false(let_go(code, 2 * SECOND));
    code->spans.arming = ARMED_ALWAYS;
    code->cold.jumps = true;
    assert_false(let_go(code, 2 * SECOND));
    code->cold.jumps = false;
    code->spans.pending = 1;
    assert_false(let_go(code, 2 * SECOND));
    code->spans.pending = 0;
    Counter_set(&code->hot.self_calls, RECENT_CALLS); // its mark will move
    assert_false(let_go(code, 2 * SECOND));
    Counter_set(&code->hot.self_calls, 0);
    assert_true(let_go(code, 2 * SECOND));
}

static void find(struct Idle *idle, uint64_t ticks)
{
    Idle_find(idle, active, ticks, HZ);
    while (Idle_let_go(idle, engine.registry))
        continue;
}

static void test_they_are_found(void **state)
{
    struct Code *code = called(), *sampled = called();
    struct Idle idle = {0};

    (void)state;
    find(&idle, 12 * SECOND);
    assert_int_equal(code->hot.activity, CODE_ACTIVE);
    find(&idle, 14 * SECOND); // not every second
    assert_int_equal(code->hot.activity, CODE_ACTIVE);
    Counter_add(&sampled->share.cumulative.total_ns, 5);
    find(&idle, 18 * SECOND);
    assert_int_equal(code->hot.activity, CODE_IDLE);
    assert_true(isnan(code->plan.rate));
    assert_int_equal(sampled->hot.activity, CODE_ACTIVE);
    find(&idle, 24 * SECOND);
    assert_int_equal(sampled->hot.activity, CODE_IDLE);
    Idle_release(&idle);
}

static void test_one_that_is_freed(void **state)
{
    struct Code *a = called(), *b = called();

    (void)state;
    assert_true(is_listed(a));
    assert_true(let_go(a, 2 * SECOND));
    Code_wake(a);
    Engine_retire(&engine, a);
    Engine_retire(&engine, b);
    for (int i = 0; i < 2; i++) {
        struct Code *code = Registry_take_retired(engine.registry, UINT64_MAX);

        for (struct Code *next; code; code = next) {
            next = code->node.next_retired;
            Registry_drop(engine.registry, code);
        }
    }
    Active_begin(active); // for AddressSanitizer
    assert_int_equal(active->count, 0);
    Active_end(active);
}

// It has the hits of the slice from its first one on; between slices its own
// time is none of its own if others are dark, and a call that has begun before
// they were is not timed.
static void test_it_joins_the_slice(void **state)
{
    struct Code *code = called(), *callee = called();
    uint16_t epoch;

    (void)state;
    assert_true(Registry_link(engine.registry, code, callee) >= 0);
    epoch = code->hot.epoch;
    assert_true(let_go(code, 2 * SECOND));
    Active_hit(active, code, 3 * SECOND);
    assert_int_equal(code->hot.epoch, epoch); // nothing has happened
    assert_int_equal(code->hot.stop_at, 510);

    assert_true(let_go(code, 2 * SECOND));
    active->slice = (struct Slice){.hits = 2000, .gaps = 1};
    Active_hit(active, code, 3 * SECOND);
    assert_int_equal(code->hot.stop_at, 2010);
    assert_false(code->cold.between);
    assert_int_not_equal(code->hot.epoch, epoch);

    assert_true(let_go(code, 2 * SECOND));
    active->slice = (struct Slice){.between = true, .gaps = 2};
    Code_touch(code); // a sample: it is on the list, and its hit is to come
    assert_true(is_listed(code));
    assert_false(code->cold.between);
    Active_hit(active, code, 3 * SECOND);
    assert_true(code->cold.between);
    assert_int_equal(code->hot.activity, CODE_ACTIVE);
}

// --- Other threads ---

static struct Code *tossed;
static _Atomic uint64_t touches;
static _Atomic bool stop;

static void *touch(void *unused)
{
    while (!atomic_load(&stop)) {
        Counter_add(&tossed->share.cumulative.total_ns, 1);
        Code_touch(tossed);
        atomic_fetch_add(&touches, 1);
    }
    return unused;
}

// However often it is let go while it is sampled: once nothing happens any more
// it is either on the list, or all that was sampled was known when it was let
// go.
static void test_no_sample_is_lost(void **state)
{
    pthread_t thread;

    (void)state;
    tossed = called();
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&thread, NULL, touch, NULL), 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct Code *code = tossed;
        uint32_t ns;

        code->plan.sampled_ns =
            (uint32_t)Counter_get(&code->share.cumulative.total_ns);
        let_go(code, 2 * SECOND);
        ns = (uint32_t)Counter_get(&code->share.cumulative.total_ns);
        while (ns != code->plan.sampled_ns &&
               atomic_load(&code->hot.activity) == CODE_IDLE)
            continue; // it is about to be woken up
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    if (tossed->hot.activity == CODE_IDLE)
        assert_int_equal(
            tossed->plan.sampled_ns,
            (uint32_t)Counter_get(&tossed->share.cumulative.total_ns));
    else
        assert_true(is_listed(tossed));
    Active_begin(active);
    assert_in_range(active->count, 0, 1); // and not twice
    Active_end(active);
}

static int set_up(void **state)
{
    (void)state;
    make_engine(&engine);
    active = &engine.registry->active;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    Engine_release(&engine);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_who_is_on_the_list), TEST(test_who_may_be_idle),
        TEST(test_they_are_found),     TEST(test_one_that_is_freed),
        TEST(test_it_joins_the_slice), TEST(test_no_sample_is_lost),
    };

    return cmocka_run_group_tests_name("tracer/code/active", tests, NULL, NULL);
}
