// SPDX-License-Identifier: MIT
// tracer/budget/survey: who is due, for what, and who is not.
#include "tracer/budget/survey.h"

#include "tests/tracer/make_engine.h"
#include "tracer/code/arming.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define HZ 1e9

static struct Engine engine;
static struct Plan plan;
static struct Survey survey;
static struct ShareTime sampled;

// One that has run at that second, and is dark since.
static struct Code *dark(double seen)
{
    struct Code *code = add_code(&engine, "f", 500);

    Counter_set(&code->hot.calls, 500);
    Counter_set(&code->hot.self_calls, 500);
    Counter_set(&code->hot.self_cycles, 50000);
    Counter_set(&code->hot.last_seen, (uint64_t)(seen * HZ));
    code->hot.dark = true;
    return code;
}

static size_t take(double now)
{
    survey.ticks = (uint64_t)(now * HZ);
    assert_int_equal(Survey_plan(&survey, &plan), 0);
    return plan.count;
}

static void expect(struct Code *const codes[], size_t count)
{
    assert_int_equal(plan.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(plan.items[i].id, codes[i]->hot.id);
}

static void test_the_oldest_first(void **state)
{
    struct Code *late = dark(20), *early = dark(10), *fresh = dark(39);

    (void)state, (void)fresh;
    add_code(&engine, "never ran", 500)->hot.dark = true;
    take(40);
    expect((struct Code *[]){early, late}, 2);
    assert_true(plan.items[0].hits >= 16 && plan.items[0].seconds > 0);
    assert_int_equal(plan.items[0].callee_hits, 0);
}

static void test_the_hot_are_due_sooner(void **state)
{
    struct Code *cold = dark(10), *hot = dark(10);

    (void)state;
    survey.sampled = &sampled;
    ShareValue_add(&hot->share.cpu, &sampled, 2e9);
    take(13);
    expect((struct Code *[]){hot}, 1);
    sampled.age += 2;
    take(30);
    expect((struct Code *[]){hot, cold}, 2);
}

// A machine that was suspended may count from zero again.
static void test_a_counter_that_goes_back(void **state)
{
    struct Code *late = dark(5000);

    (void)state;
    take(40);
    expect((struct Code *[]){late}, 1);
}

// Its calls are seen, so it looks fresh; its blocks have not been for long.
static void test_broken_code_is_due(void **state)
{
    struct Code *code = dark(39);

    (void)state;
    code->hot.dark = false;
    code->hot.broken = true;
    take(40);
    expect(NULL, 0);
    Counter_set(&code->hot.last_seen, (uint64_t)(99 * HZ));
    take(100);
    expect((struct Code *[]){code}, 1);
    code->hot.broken = false;
    take(101);
    code->hot.broken = true;
    take(102);
    expect(NULL, 0);
}

static void test_who_calls_the_hot(void **state)
{
    struct Code *cold = dark(10), *caller = dark(10);

    (void)state, (void)cold;
    survey.sampled = &sampled;
    ShareValue_add(&caller->share.cumulative, &sampled, 2e9);
    take(13);
    expect((struct Code *[]){caller}, 1);
}

// Armed and waiting, it is nobody's business; with a dark jump it is.
static void test_armed_code(void **state)
{
    struct Code *code = dark(10);

    (void)state;
    code->hot.dark = false;
    assert_int_equal(take(1000), 0);
    code->hot.broken = true;
    assert_int_equal(take(1000), 0); // since now
    assert_int_equal(take(1100), 1);
}

static void test_what_cannot_be_armed_is_asked_less(void **state)
{
    struct Code *code = dark(10);

    (void)state;
    code->plan.refusals = 3;
    assert_int_equal(take(10 + 12 * 8 - 1), 0);
    assert_int_equal(take(10 + 12 * 8 + 1), 1);
}

// Calls of it are seen, but a callee is dark.
static void test_who_lacks_its_callees(void **state)
{
    struct Code *code = dark(1);
    double seconds;

    (void)state;
    code->hot.dark = false;
    code->hot.dark_callees = 2;
    assert_int_equal(take(10), 0);  // the first look
    assert_int_equal(take(100), 0); // it has not been called since
    Counter_set(&code->hot.last_seen, (uint64_t)(101 * HZ));
    assert_int_equal(take(102), 1);
    assert_int_equal(plan.items[0].callee_hits, Policy_callee_hits(0));
    seconds = plan.items[0].seconds;
    Code_want_callees(code, 64);
    assert_int_equal(take(150), 0); // its next call will have them
    code->cold.callee_hits = 0;
    code->plan.window_open = true; // and could not be timed
    RearmWindow_begin(&code->plan.window, 500);
    assert_int_equal(take(150), 1);
    assert_int_equal(code->plan.window.reach, 1); // with more, and as soon
    assert_int_equal(code->plan.window.misses, 0);
    assert_int_equal(plan.items[0].callee_hits, Policy_callee_hits(1));
    assert_true(plan.items[0].times);
    assert_true(plan.items[0].seconds > seconds + 2 * 190 * 70e-9); // foreseen
    take(151);
    assert_int_equal(code->plan.window.reach, 1); // a re-arm window ends once
    Counter_add(&code->hot.self_calls, 5);        // it could
    code->plan.window_open = true;
    Counter_set(&code->hot.last_seen, (uint64_t)(180 * HZ));
    assert_int_equal(take(160), 0);
    assert_int_equal(take(181), 1);
    assert_int_equal(code->plan.window.misses, 0);
    assert_int_equal(plan.items[0].callee_hits, Policy_callee_hits(1));
}

static void test_dark_callers(void **state)
{
    struct Code *code = dark(10);

    (void)state;
    code->hot.dark_callees = 1;
    take(10.5);
    take(30); // both are due: one re-arm window is for both
    expect((struct Code *[]){code}, 1);
    assert_int_equal(plan.items[0].callee_hits, Policy_callee_hits(0));
    code->plan.window.misses =
        4; // in vain so far: alone, and now and then together
    take(35);
    assert_int_equal(plan.count, 1);
    assert_int_equal(plan.items[0].callee_hits, 0);
    assert_false(plan.items[0].times); // that no call is timed is no miss
    take(10.5 + 12 * 16 + 1);
    assert_int_equal(plan.items[0].callee_hits, Policy_callee_hits(0));
}

// That it is cold counts as a dark callee of it; its callees have their turn.
static void test_who_warms_up_lacks_nobody(void **state)
{
    struct Code *code = dark(1);

    (void)state;
    code->hot.dark = false;
    code->hot.warming = true;
    code->hot.dark_callees = 1;
    take(10);
    Counter_set(&code->hot.last_seen, (uint64_t)(101 * HZ));
    assert_int_equal(take(102), 0);
    code->hot.warming = false;
    assert_int_equal(take(102), 1);
}

static uint64_t hits_of(size_t place)
{
    const struct PlanItem *item = &plan.items[place];

    return item->steady_s > 0 ? survey.second_hits : item->hits;
}

// Few calls, as far as samples tell: a second's hits. A tenth of the time with
// calls of 100 ns is a million calls a second.
static void test_what_is_called_seldom_gets_a_seconds_hits(void **state)
{
    struct Code *seldom = dark(10), *hot = dark(10);

    (void)state;
    survey.sampled = &sampled;
    survey.second_hits = 500;
    survey.room = 1;
    ShareValue_add(&hot->share.cpu, &sampled, 2e9);
    take(40);
    expect((struct Code *[]){hot, seldom}, 2);
    assert_int_equal(hits_of(0), 32);
    assert_int_equal(hits_of(1), 500);
    assert_true(plan.items[1].seconds < plan.items[0].seconds);
    survey.second_hits = 20; // less than a re-arm window's
    take(40);
    assert_int_equal(hits_of(1), 32);
    survey.second_hits = 500;
    survey.room = 0.5 * survey.costs.call; // for not one call a second
    take(40);
    assert_int_equal(hits_of(1), 32);
    survey.room = 1;
    survey.sampled = NULL; // nobody says that it is seldom called
    take(40);
    assert_int_equal(hits_of(0), 32);
    assert_int_equal(hits_of(1), 32);
}

// What is to stay armed waits no longer for taking more hits a second: they
// come from the room. A dark jump of what is armed gets a window's hits.
static void test_what_is_to_stay_armed_is_not_dear(void **state)
{
    struct Code *code = dark(37.9);

    (void)state;
    survey.sampled = &sampled;
    survey.second_hits = 2000000;
    survey.room = 1;
    survey.rate = 0.01;
    ShareValue_add(&code->share.cpu, &sampled, 2.5e8); // 500 000 calls a second
    assert_int_equal(take(40), 1);
    assert_true(plan.items[0].steady_s > 0.02 * survey.rate);
    survey.room = 0.5 * plan.items[0].steady_s;
    assert_int_equal(take(40), 1);
    assert_int_equal(hits_of(0), 32);
    survey.room = 1;
    code->hot.dark = false;
    code->hot.broken = true;
    take(42);
    assert_int_equal(take(60), 1);
    assert_true(plan.items[0].steady_s == 0);
    assert_int_equal(plan.items[0].hits, 32);
}

// A call that mostly waits takes as long as one that runs: so few come.
static void test_calls_that_wait_are_few(void **state)
{
    struct Code *waits = dark(10), *runs = dark(10);

    (void)state;
    survey.sampled = &sampled;
    survey.second_hits = 100000000;
    survey.room = 10;
    ShareValue_add(&waits->share.cpu, &sampled, 1e9);
    ShareValue_add(&waits->share.wait, &sampled, 1e9);
    ShareValue_add(&runs->share.cpu, &sampled, 1e9);
    take(40);
    assert_int_equal(plan.count, 2);
    for (size_t i = 0; i < 2; i++)
        if (plan.items[i].id == waits->hot.id)
            assert_true(plan.items[i].steady_s >
                        1.9 * plan.items[1 - i].steady_s);
}

// The most urgent function gets the room. The others are planned for a re-arm
// window: its hits, its cost, and only when they are due.
static void test_room_goes_by_urgency(void **state)
{
    struct Code *early = dark(30), *late = dark(10), *newest = dark(37);
    double often_s;

    (void)state;
    survey.sampled = &sampled;
    survey.second_hits = 500;
    survey.room = 1;
    take(40);
    expect((struct Code *[]){late, early, newest}, 3); // as they were seen last
    survey.room = 1.5 * plan.items[0].steady_s;
    take(40);
    assert_int_equal(plan.items[0].id, late->hot.id);
    assert_int_equal(hits_of(0), 500);
    // Seen 3 s ago, the newest is not due but for room.
    assert_int_equal(plan.count, 1);
    late->hot.dark = newest->hot.dark = false;
    survey.room = 0;
    take(60);
    expect((struct Code *[]){early}, 1);
    assert_int_equal(hits_of(0), 32);
    often_s = plan.items[0].seconds;
    survey.sampled = NULL;
    take(60);
    assert_true(plan.items[0].seconds == often_s);
}

// Judged again without room, a function may be less urgent than those after it.
static void test_who_gets_no_room_may_be_less_urgent(void **state)
{
    struct Code *often = dark(10), *seldom = dark(20);

    (void)state;
    survey.sampled = &sampled;
    survey.second_hits = 5000;
    survey.room = 1;
    ShareValue_add(&often->share.cpu, &sampled, 5e5); // 1000 calls a second
    take(40);
    expect((struct Code *[]){often, seldom}, 2);
    survey.room = 10 * survey.costs.call;
    take(40);
    expect((struct Code *[]){seldom, often}, 2);
    assert_int_equal(hits_of(0), 5000);
    assert_int_equal(hits_of(1), 32);
}

// What came while nothing could be afforded and has been called once is not
// armed, until it is called again or a sample finds it running.
static void test_unarmed_code(void **state)
{
    struct Code *code = dark(10);

    (void)state;
    code->cold.unarmed = true;
    assert_int_equal(take(100), 0);
    code->cold.again = true;
    assert_int_equal(take(100), 1);
    code->cold.again = false;
    Counter_set(&code->share.run_samples, 1);
    assert_int_equal(take(100), 1);
}

static void test_means_are_of_the_newest_calls(void **state)
{
    struct Code *code = dark(10);

    (void)state;
    for (int second = 40; second < 200; second += 40) {
        take(second);
        Counter_add(&code->hot.self_calls, 1000);
    }
    assert_true(Counter_get(&Recent_mark(&code->plan.recent)->calls) >= 1000);
}

static int set_up(void **state)
{
    (void)state;
    make_engine(&engine);
    sampled = (struct ShareTime){.ns = 20e9, .full_ns = 5e9};
    survey = (struct Survey){.registry = engine.registry,
                             .costs = {.call = 70e-9},
                             .hz = HZ,
                             .rate = 0.01};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    Plan_release(&plan);
    Engine_release(&engine);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_oldest_first),
        TEST(test_the_hot_are_due_sooner),
        TEST(test_a_counter_that_goes_back),
        TEST(test_broken_code_is_due),
        TEST(test_who_calls_the_hot),
        TEST(test_armed_code),
        TEST(test_what_cannot_be_armed_is_asked_less),
        TEST(test_who_lacks_its_callees),
        TEST(test_dark_callers),
        TEST(test_who_warms_up_lacks_nobody),
        TEST(test_what_is_called_seldom_gets_a_seconds_hits),
        TEST(test_what_is_to_stay_armed_is_not_dear),
        TEST(test_calls_that_wait_are_few),
        TEST(test_room_goes_by_urgency),
        TEST(test_who_gets_no_room_may_be_less_urgent),
        TEST(test_unarmed_code),
        TEST(test_means_are_of_the_newest_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
