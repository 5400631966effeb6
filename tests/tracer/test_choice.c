// SPDX-License-Identifier: MIT
// Tests tracer/budget/choice, which chooses functions that keep their hooks.
#include "tracer/budget/choice.h"

#include "tests/tracer/make_engine.h"
#include "tracer/code/latency.h"
#include "tracer/code/spans.h"

#include "tests/unit.h"

#define HZ 1e9
#define SECOND UINT64_C(1000000000)

static struct Engine engine;
static struct Choice choice;
static uint64_t now;

// Makes a function that was called `calls` times in a second with hooks.
static struct Code *called(uint64_t calls, bool own)
{
    struct Code *code = add_code(&engine, "f", 500);

    code->who.own = own;
    Counter_set(&code->hot.last_seen, 1);
    Spans_open(code, now - SECOND);
    Counter_add(&code->hot.entries, calls);
    return code;
}

// Runs the choice. The hooks of a call take 1 us, and all hooks may take `rate`
// seconds per second.
static void choose(double rate, bool sliced)
{
    const struct ChoiceReading reading = {.registry = engine.registry,
                                          .ticks = now,
                                          .hz = HZ,
                                          .call_s = 1e-6,
                                          .rate = rate,
                                          .sliced = sliced};

    assert_int_equal(Choice_make(&choice, &reading), 0);
}

static const struct ChoiceItem *item_of(const struct Code *code)
{
    for (size_t i = 0; i < choice.count; i++)
        if (choice.items[i].id == code->hot.id)
            return &choice.items[i];
    return NULL;
}

static void expect(const struct Code *code, bool stays)
{
    assert_non_null(item_of(code));
    assert_int_equal(item_of(code)->stays, stays);
}

static void set_up(void), tear_down(void);

// Half of 2 ms is enough for the hooks of 1000 calls a second. The cheapest
// functions are chosen until the next one would cost too much.
TEST_WITH(test_the_cheapest, set_up, tear_down)
{
    struct Code *dear = called(900, false), *cheap = called(50, false);
    struct Code *middle = called(300, false), *idle = called(0, false);

    choose(2e-3, true);
    expect(idle, true);
    expect(cheap, true);
    expect(middle, true);
    expect(dear, false);
    assert_true(choice.left_out);
    assert_float_equal(choice.stays_s, 350e-6, 1e-9);
    choose(4e-3, true);
    expect(dear, true);
    assert_false(choice.left_out);
}

// The program's own handler is chosen before any function of a library. If the
// hooks of a function cost too much, other functions are chosen instead.
TEST_WITH(test_the_programs_own_first, set_up, tear_down)
{
    struct Code *library[8], *handler = called(400, true);
    struct Code *loop = called(5000, true);

    for (int i = 0; i < 8; i++)
        library[i] = called(100, false);
    choose(2e-3, true);
    expect(handler, true);
    expect(loop, false);
    for (int i = 0; i < 8; i++)
        expect(library[i], i < 6);
}

// A function for whose latencies a viewer has asked is chosen before others.
TEST_WITH(test_a_function_of_a_viewer, set_up, tear_down)
{
    struct Code *cheap = called(1, true), *asked = called(1100, true);

    choose(1.467e-3, true);
    expect(cheap, true);
    expect(asked, false);
    Latency_suspended(asked, 1, 0, 0);
    assert_true(Latency_count(asked, HZ));
    choose(1.467e-3, true);
    expect(cheap, false);
    expect(asked, true);
}

// If a function has had hooks for only a few milliseconds, its call rate is
// unknown.
TEST_WITH(test_a_short_span, set_up, tear_down)
{
    struct Code *code = called(20, false);

    Counter_set(&code->spans.open_ticks, now - SECOND / 100);
    choose(1, true);
    assert_null(item_of(code));
    Counter_set(&code->spans.open_ticks, now - SECOND / 10);
    choose(1, true);
    expect(code, true);
}

// Each resumption of a coroutine runs hooks.
TEST_WITH(test_resumptions_cost, set_up, tear_down)
{
    struct Code *code = called(800, false);

    Counter_add(&code->hot.resumed, 600);
    choose(1e-3, true);
    assert_float_equal(item_of(code)->cost_s, 800e-6, 1e-9);
    expect(code, false);
}

// The choice leaves out hot functions, functions that were not called, and
// functions that keep their hooks forever.
TEST_WITH(test_no_candidates, set_up, tear_down)
{
    struct Code *hot = called(10, false), *unseen = called(0, false);
    struct Code *stays = called(10, false);

    hot->hot.dark = true;
    hot->spans.arming = ARMED_HOT;
    Counter_set(&unseen->hot.last_seen, 0);
    stays->hot.stop_at = CODE_NEVER;
    choose(1, true);
    assert_null(item_of(hot));
    assert_null(item_of(unseen));
    assert_null(item_of(stays));
    // The function has hooks in a slice, and keeps them for some calls.
    hot->hot.dark = false;
    choose(1, true);
    expect(hot, true);
}

// Between slices the choice considers only functions with hooks. A function
// keeps its hooks as long as their cost exceeds its part by at most a quarter.
TEST_WITH(test_between_slices, set_up, tear_down)
{
    struct Code *always = called(100, false), *sliced = called(100, false);
    struct Code *new = called(100, false);

    always->spans.arming = ARMED_ALWAYS;
    sliced->spans.arming = ARMED_SLICES;
    choose(2e-3, false);
    assert_null(item_of(sliced));
    // This function has had hooks for too short a time to have a call rate.
    assert_null(item_of(new));
    // This function keeps its hooks.
    assert_null(item_of(always));
    assert_float_equal(choice.stays_s, 100e-6, 1e-9);
    now += SECOND;
    choose(2e-3, false);
    expect(new, true);
    for (int i = 0; i < 30; i++) { // The function's hooks become expensive.
        now += SECOND;
        Counter_add(&always->hot.entries, 1100);
        choose(2e-3, false);
    }
    assert_null(item_of(always));
    assert_float_equal(choice.stays_s - item_of(new)->cost_s, 1100e-6, 10e-6);
    for (int i = 0; i < 30; i++) {
        now += SECOND;
        Counter_add(&always->hot.entries, 1400);
        choose(2e-3, false);
    }
    expect(always, false);
}

static void set_up(void)
{
    now = 1000 * SECOND;
    choice = (struct Choice){0};
    assert_int_equal(Engine_init(&engine), 0);
}

static void tear_down(void)
{
    Choice_release(&choice);
    Engine_release(&engine);
}
