// SPDX-License-Identifier: MIT
// Tests the sums and the log of event loops.
#include "tracer/sample/event_loops.h"

#include "tests/unit.h"

#include <math.h>
#include <stdio.h>

#define HZ 1000.0 // a tick is a millisecond.

static struct EventLoops loops;
static int owners[EVENT_LOOPS + 1];
static int woken;

static struct EventLoop *take(int number)
{
    return EventLoops_take(&loops, &owners[number], 100 + number);
}

static void begin(void)
{
    EventLoops_init(&loops);
    EventLoops_reset(&loops, 0.05, HZ);
}

static void observe(struct EventLoop *loop, uint64_t ticks, uint32_t function)
{
    struct StallPlace place = {.function = function, .line = 7};

    snprintf(place.name, sizeof place.name, "f%u", function);
    EventLoops_observe(&loops, loop, Counter_get(&loop->steps), ticks, &place);
}

static void step(struct EventLoop *loop, uint64_t from, uint64_t to)
{
    struct Stall stall = {.began = from, .ended = to};

    EventLoops_begin(&loops, loop, from, 1, 16);
    assert_int_equal(EventLoop_began(loop), from);
    if (EventLoop_end(loop, to) >= loops.limit)
        EventLoops_stall(&loops, loop, &stall);
    assert_int_equal(EventLoop_began(loop), 0);
}

TEST(test_a_thread_has_one_loop)
{
    struct EventLoop *loop;

    begin();
    loop = take(0);
    assert_ptr_equal(take(0), loop);
    for (int i = 1; i < EVENT_LOOPS; i++)
        assert_non_null(take(i));
    assert_null(take(EVENT_LOOPS));
    assert_true(loops.full);
    step(loop, 10, 20);
    EventLoops_leave(&loops, &owners[0]);
    assert_false(loops.full);
    // A new thread takes the place of the ended thread. The number of steps of
    // all threads stays.
    assert_ptr_equal(take(EVENT_LOOPS), loop);
    assert_int_equal(loop->tid, 100 + EVENT_LOOPS);
    assert_int_equal(EventLoops_steps(&loops), 1);
    EventLoops_reset(&loops, 0, HZ);
}

TEST(test_only_long_steps_are_in_the_log)
{
    struct EventLoop *loop;

    begin();
    loop = take(0);
    step(loop, 100, 149);
    assert_int_equal(loops.stall_count, 0);
    step(loop, 200, 250);
    assert_int_equal(loops.stall_count, 1);
    assert_int_equal(loops.stalls[0].began, 200);
    assert_string_equal(loops.stalls[0].place.name, "");
    for (unsigned i = 0; i < STALLS; i++)
        step(loop, 1000 * (i + 1), 1000 * (i + 1) + 60);
    assert_int_equal(loops.stall_count, STALLS + 1);
    assert_int_equal(loops.stalls[0].began, 1000 * STALLS);
    EventLoops_reset(&loops, 0, HZ);
    assert_int_equal(EventLoops_bytes(&loops), 0);
}

TEST(test_the_hottest_place_is_in_the_log)
{
    struct Stall stall = {.began = 100, .ended = 300};
    struct EventLoop *loop;

    begin();
    loop = take(0);
    EventLoops_begin(&loops, loop, 100, 1, 16);
    observe(loop, 110, 1); // 10 ms in f1
    observe(loop, 130, 2); // 20 ms in f2
    observe(loop, 135, 1); // 15 ms in f1
    observe(loop, 140, 2);
    // A step with so many places has no room for all of them.
    for (uint32_t i = 3; i < 9; i++)
        observe(loop, 140 + i, i);
    EventLoop_end(loop, 300);
    EventLoops_stall(&loops, loop, &stall);
    assert_string_equal(loops.stalls[0].place.name, "f2");
    assert_int_equal(loops.stalls[0].place.line, 7);
    // The next step of the loop has no observations.
    step(loop, 400, 500);
    assert_string_equal(loops.stalls[1].place.name, "");
    EventLoops_reset(&loops, 0, HZ);
}

TEST(test_a_whole_stack_replaces_a_torn_one)
{
    struct StallPlace place = {.function = 1, .line = 7, .torn = true};
    struct Stall stall = {.began = 100, .ended = 300};
    struct EventLoop *loop;

    begin();
    loop = take(0);
    EventLoops_begin(&loops, loop, 100, 1, 16);
    snprintf(place.stack, sizeof place.stack, "inner");
    EventLoops_observe(&loops, loop, 1, 110, &place);
    place.torn = false;
    snprintf(place.stack, sizeof place.stack, "outer;inner");
    EventLoops_observe(&loops, loop, 1, 120, &place);
    place.torn = true;
    snprintf(place.stack, sizeof place.stack, "inner");
    EventLoops_observe(&loops, loop, 1, 130, &place);
    EventLoop_end(loop, 300);
    EventLoops_stall(&loops, loop, &stall);
    assert_string_equal(loops.stalls[0].place.stack, "outer;inner");
    assert_int_equal(loops.stalls[0].place.ticks, 30);
    EventLoops_reset(&loops, 0, HZ);
}

TEST(test_rates)
{
    struct EventLoop *loop;
    struct LoopRates rates;
    double from;

    begin();
    loop = take(0);
    from = loop->window.at_s;
    rates = EventLoop_rates(&loops, loop, from);
    assert_true(isnan(rates.steps_per_s) && isnan(rates.lag_s));
    for (uint64_t i = 0; i < 200; i++)
        step(loop, i + 1, i + 1);
    rates = EventLoop_rates(&loops, loop, from + 2);
    assert_true(fabs(rates.steps_per_s - 100) < 1e-6);
    assert_true(isnan(rates.lag_s)); // No timer has run.
    EventLoop_late(loop, 1000000);
    EventLoop_late(loop, 3000000);
    rates = EventLoop_rates(&loops, loop, from + 4);
    assert_true(fabs(rates.lag_s - 0.002) < 1e-9);
    assert_true(rates.steps_per_s > 40 && rates.steps_per_s < 60);
    rates = EventLoop_rates(&loops, loop, from + 104);
    assert_true(isnan(rates.lag_s));
    assert_true(rates.steps_per_s < 1);
    // While steps are off, and until the next call after that, no rate is
    // known.
    EventLoops_switch(&loops);
    rates = EventLoop_rates(&loops, loop, from + 105);
    assert_true(isnan(rates.steps_per_s));
    rates = EventLoop_rates(&loops, loop, from + 106);
    assert_true(isnan(rates.steps_per_s));
    EventLoops_switch(&loops);
    rates = EventLoop_rates(&loops, loop, from + 107);
    assert_true(isnan(rates.steps_per_s));
    step(loop, 1, 2);
    rates = EventLoop_rates(&loops, loop, from + 108);
    assert_true(fabs(rates.steps_per_s - 1) < 1e-6);
    EventLoops_reset(&loops, 0, HZ);
}

static void wake(void *sampler)
{
    *(int *)sampler += 1;
}

TEST(test_a_step_wakes_the_sampler_once)
{
    struct EventLoop *loop;

    begin();
    loop = take(0);
    EventLoops_watch(&loops, wake, &woken);
    step(loop, 10, 11);
    step(loop, 20, 21);
    assert_int_equal(woken, 1);
    atomic_store(&loops.asleep, true);
    step(loop, 30, 31);
    assert_int_equal(woken, 2);
    EventLoops_watch(&loops, NULL, NULL);
    step(loop, 40, 41);
    assert_int_equal(woken, 2);
    EventLoops_reset(&loops, 0, HZ);
}
