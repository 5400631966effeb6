// SPDX-License-Identifier: MIT
// Tests how many calls of C functions a function makes (tracer/code/c_calls),
// and the error of their calls per second (tracer/session/c_rates).
#include "tracer/code/c_calls.h"
#include "tracer/hook/exceptions.h"
#include "tracer/session/c_rates.h"

#include "tests/tracer/make_opcodes.h"

#include "tests/unit.h"

#include "tests/tracer/make_function.h"

#include <math.h>

enum { AT = 1, ELSEWHERE = 4 }; // Code units of two instructions.

static struct Registry *registry;
static struct Opcodes opcodes;
static struct Code *caller, *one, *other; // `one` and `other` are C functions.
static uint64_t ticks;
static const struct ThreadTrace *const payer = (const void *)&ticks;

static void set_up(void)
{
    make_opcodes(&opcodes);
    registry = Registry_new();
    caller = make_function(registry, &opcodes, LOOP, sizeof LOOP, 500);
    one = make_function(registry, &opcodes, LOOP, sizeof LOOP, 0);
    other = make_function(registry, &opcodes, LOOP, sizeof LOOP, 0);
    ticks = 0;
}

static void tear_down(void)
{
    Registry_free(registry);
}

// Calls a C function `count` times. Returns true if all calls were counted.
static bool call(const struct Code *function, uint32_t unit, int count)
{
    bool whole = true;

    CCalls_note(caller, unit, function->hot.id);
    for (; count > 0; count--, ticks++)
        whole &= CCalls_count(caller, unit, function->hot.id, false, ticks);
    return whole;
}

static bool enter(int calls_of_one, int calls_of_other)
{
    Counter_add(&caller->hot.entries, 1);
    return call(one, AT, calls_of_one) && call(other, AT, calls_of_other);
}

static const struct CPair *pair_of(const struct Code *function, uint32_t unit)
{
    CCalls_note(caller, unit, function->hot.id);
    return CCalls_newest(caller, unit);
}

static double of_entry(const struct Code *function)
{
    return pair_of(function, AT)->calls / CCalls_of(caller)->entries;
}

TEST_WITH(test_a_window_has_whole_entries, set_up, tear_down)
{
    // The first window of counting begins with the first call of a C function.
    while (enter(3, 1))
        ;
    assert_false(CCalls_is_open(caller));
    assert_float_equal(of_entry(one), 3, 1e-9);
    assert_float_equal(of_entry(other), 1, 1e-9);
    assert_false(call(one, AT, 1));
    // The clock ends this window. Calls that call no C function count, too.
    CCalls_open(caller, ticks, 1000);
    for (int i = 0; i < 100; i++)
        assert_true(enter(3 * (i % 2), i % 2));
    CCalls_close(caller, Counter_get(&caller->hot.entries), ticks + 100);
    assert_in_range(of_entry(one) * 1000, 1500, 1600);
    assert_in_range(CCalls_of(caller)->ticks, 300, 400);
    // The window does not contain the call at which the caller loses its hooks.
    CCalls_open(caller, ticks, 1000);
    enter(1, 1);
    caller->hot.dark = true;
    assert_false(enter(1, 1));
}

static double error_of_time(void)
{
    const struct CCalls *calls = CCalls_of(caller);

    return sqrt(calls->errors) / calls->ticks;
}

TEST_WITH(test_the_time_before_the_first_call_is_paid, set_up, tear_down)
{
    Counter_add(&caller->hot.entries, 1);
    call(one, AT, 1);
    CCalls_open(caller, ticks, 1000);
    // The governor has kept the thread waiting for 500 ticks.
    ticks += 500;
    call(one, AT, 1);
    CCalls_pay(caller, &(struct CPayment){payer, 0, 100, ticks, 1000});
    ticks += 1000;
    CCalls_pay(caller, &(struct CPayment){payer, 100, 200, ticks, 1000});
    CCalls_close(caller, 1, ticks);
    assert_in_range(CCalls_of(caller)->ticks, 780, 820);
    assert_in_range(CCalls_of(caller)->hooks, 680, 720);
    // If hooks took the whole time, there is no rate.
    CCalls_open(caller, ticks, 1000);
    CCalls_pay(caller, &(struct CPayment){payer, 0, 5000, ticks, 0});
    CCalls_close(caller, 1, ticks + 10);
    assert_true(CCalls_of(caller)->ticks < 0);
}

// A main loop is called once and never ends, but the window in it ends.
TEST_WITH(test_a_window_within_one_entry, set_up, tear_down)
{
    const struct CPair *pair;

    Counter_add(&caller->hot.entries, 1);
    call(one, AT, 10000);
    assert_false(CCalls_is_open(caller));
    pair = pair_of(one, AT);
    assert_float_equal(pair->calls / CCalls_of(caller)->ticks, 1, 0.01);
    assert_float_equal(error_of_time(), 1, 1e-9);
    // The loop waits once in a while, and the window ends in such a wait.
    for (int i = 0; i < 8; i++) {
        CCalls_open(caller, ticks, 1000);
        for (int part = i % 2; part < 5; ticks += 1000, part++)
            call(one, AT, 1000);
        CCalls_close(caller, 1, ticks);
    }
    assert_float_equal(pair->calls / CCalls_of(caller)->ticks, 0.5, 0.05);
    assert_in_range(error_of_time() * 1000, 5, 150);
    // The time of hooks does not count as time of the loop.
    CCalls_open(caller, ticks, 1000);
    CCalls_pay(caller, &(struct CPayment){.payer = payer, .after = 1000});
    // Hooks of other events ran between the two calls.
    CCalls_pay(caller, &(struct CPayment){payer, 19000, 20000, ticks, 0});
    ticks += 21000;
    call(one, AT, 1000);
    CCalls_close(caller, 1, ticks);
    assert_float_equal(pair->calls / CCalls_of(caller)->ticks, 0.5, 0.05);
    // The loop makes all calls in bursts, so the rate has a large error.
    for (int i = 0; i < 8; i++) {
        CCalls_open(caller, ticks, 1000);
        ticks += i % 2 ? 0 : 100000;
        call(one, AT, 4096);
    }
    assert_in_range(error_of_time() * 1000, 300, 1000);
    // A window with whole calls replaces the window within one call.
    CCalls_open(caller, ticks, 1000);
    enter(2, 1);
    CCalls_close(caller, Counter_get(&caller->hot.entries), ticks);
    assert_float_equal(of_entry(one), 2, 1e-9);
    // If another window begins, the current window ends.
    CCalls_open(caller, ticks, 1000);
    enter(2, 1);
    CCalls_open(caller, ticks, 1000);
    enter(2, 1);
    CCalls_close(caller, Counter_get(&caller->hot.entries), ticks);
    assert_float_equal(of_entry(one), 2, 1e-9);
}

// Returns the relative error of a C function's calls per second.
static double error_of_rate(void)
{
    static const struct Exceptions unknown;
    struct Moment at = {.registry = registry,
                        .exceptions = &unknown,
                        .hz = 1e9,
                        .ticks = ticks};
    const struct CSums *sums = &CCalls_of(one)->sums;

    CRates_update(&at);
    assert_true(sums->rate > 0);
    return sqrt(sums->variance) / sums->rate;
}

// The time that CPython takes for the events of a call is not known. It is a
// large part of the time of a loop only if the loop's calls are short.
TEST_WITH(test_the_error_of_short_calls, set_up, tear_down)
{
    double calls;

    one->who.c_function = true;
    atomic_store(&registry->has_c, true);
    CCalls_prepare(one);
    Counter_add(&caller->hot.entries, 1);
    call(one, AT, 10000);
    calls = pair_of(one, AT)->calls;
    CCalls_of(caller)->ticks = calls * 20;
    CCalls_of(caller)->errors = 0;
    assert_true(error_of_rate() > 1);
    CCalls_of(caller)->ticks = calls * 20000;
    assert_true(error_of_rate() < 0.1);
}

TEST_WITH(test_an_instruction_divides_its_samples, set_up, tear_down)
{
    const uint16_t number = caller->layout.units[AT].number;
    unsigned found = 0;

    assert_false(CCalls_note(caller, AT, 0)); // A Python function.
    assert_null(CCalls_of(caller));
    assert_false(CCalls_note(caller, AT, one->hot.id));
    assert_false(CCalls_note(caller, AT, other->hot.id));
    assert_true(CCalls_note(caller, AT, one->hot.id));
    assert_false(CCalls_note(caller, ELSEWHERE, other->hot.id));
    // Before the first window, samples belong to the newest C function.
    assert_int_equal(CCalls_choose(caller, number, registry), one->hot.id);
    assert_false(CCalls_note(caller, AT, 0));
    assert_true(CCalls_note(caller, AT, 0));
    assert_int_equal(CCalls_choose(caller, number, registry), 0);
    // Three calls take 100 cycles each, and one call takes 900 cycles.
    while (enter(3, 1))
        ;
    Counter_set(&one->hot.self_calls, 3);
    Counter_set(&one->hot.self_cycles, 300);
    Counter_set(&other->hot.self_calls, 1);
    Counter_set(&other->hot.self_cycles, 900);
    // Only in a window it is certain which function has raised an exception.
    CCalls_note(caller, AT, other->hot.id);
    Counter_add(&CCalls_newest(caller, AT)->raised, 1);
    CCalls_note(caller, AT, one->hot.id);
    assert_int_equal(CCalls_raiser(caller, AT)->id, other->hot.id);
    CCalls_open(caller, ticks, 1000);
    assert_int_equal(CCalls_raiser(caller, AT)->id, one->hot.id);
    for (int i = 0; i < 100; i++)
        found += CCalls_choose(caller, number, registry) == other->hot.id;
    assert_in_range(found, 74, 76);
}
