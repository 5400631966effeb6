// SPDX-License-Identifier: MIT
// Tests tracer/hook/garbage, and the shadow stack of a thread that collects
// garbage
// (tracer/hook/thread_trace_garbage).
#include "tracer/hook/garbage.h"

#include "tracer/hook/thread_trace_garbage.h"

#include "tests/unit.h"

#include "tests/tracer/make_engine.h"

#define HZ 1000.0 // Ticks a second.

static struct Garbage garbage;

static int reset(void **state)
{
    (void)state;
    Garbage_reset(&garbage, 100);
    Counter_set(&garbage.known, 1);
    return 0;
}

static void collect(unsigned generation, uint64_t ticks, uint64_t pause)
{
    Garbage_begin(&garbage, ticks);
    Garbage_end(&garbage, generation, ticks + pause);
}

TEST_WITH(test_the_share_follows_the_last_seconds, reset, NULL)
{
    assert_true(isnan(Garbage_share(&garbage, 100, HZ))); // No time has passed.
    collect(0, 10, 500);
    assert_float_equal(Garbage_share(&garbage, 101, HZ), 0.5, 1e-6);
    for (int s = 102; s < 105; s++)
        Garbage_share(&garbage, s, HZ);
    assert_float_equal(Garbage_share(&garbage, 105, HZ), 0.1, 0.03);
    for (int s = 106; s < 200; s++)
        Garbage_share(&garbage, s, HZ);
    assert_float_equal(Garbage_share(&garbage, 200, HZ), 0, 1e-3);
    for (int s = 201; s < 300; s++) {
        collect(0, 10, 200);
        Garbage_share(&garbage, s, HZ);
    }
    assert_float_equal(Garbage_share(&garbage, 299, HZ), 0.2, 0.02);
}

TEST_WITH(test_the_share_after_a_time_without_updates, reset, NULL)
{
    collect(0, 10, 50 * (uint64_t)HZ);
    assert_float_equal(Garbage_share(&garbage, 200, HZ), 0.5, 1e-6);
    // Time without an update decays as fast as other time.
    for (int s = 201; s <= 220; s++)
        Garbage_share(&garbage, s, HZ);
    assert_float_equal(Garbage_share(&garbage, 220, HZ), 0.5 * exp(-2), 0.01);
}

TEST_WITH(test_the_share_is_at_most_one, reset, NULL)
{
    Garbage_share(&garbage, 105, HZ);
    // This collection began before the last update.
    collect(0, 10, 6 * (uint64_t)HZ);
    assert_float_equal(Garbage_share(&garbage, 106, HZ), 1, 1e-6);
}

TEST_WITH(test_the_time_does_not_run_backwards, reset, NULL)
{
    Garbage_begin(&garbage, 20);
    // The collection ends on a CPU whose time stamp counter is behind.
    Garbage_end(&garbage, 0, 19);
    assert_int_equal(Garbage_collections(&garbage), 0);
    assert_int_equal(Counter_get(&garbage.generations[0].longest), 0);
}

static struct Engine engine;
static struct Code *code, *outer, *finalizer;
static struct ThreadTrace *trace;

static int set_up(void **state)
{
    (void)state;
    make_engine(&engine);
    outer = add_code(&engine, "outer", 0);
    finalizer = add_code(&engine, "finalizer", 0);
    code = add_code(&engine, GARBAGE_NAME, 0);
    trace = add_trace(&engine, false);
    trace->last = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    Engine_release(&engine);
    return 0;
}

static void hit(enum HitKind kind, uint32_t depth, const struct Code *caller,
                uint64_t ticks)
{
    size_t to = caller ? Hit_caller(caller->who.address) : 0;
    size_t unit = kind == HIT_GARBAGE ? 0 : code->layout.sites[2].unit;
    const struct Hit hit = {ticks, Hit_who(code->who.address, kind),
                            Hit_where(depth, unit, to)};

    assert_false(ThreadTrace_collect(trace, code, &hit, depth));
}

static void enter(struct Code *called, uint32_t depth,
                  const struct Code *caller, uint64_t ticks)
{
    ThreadTrace_settle(trace, depth, Hit_caller(caller->who.address), ticks);
    ThreadTrace_enter(trace, called, depth, 0, ticks);
}

static void leave(struct Code *called, uint32_t depth, uint64_t ticks)
{
    ThreadTrace_leave(trace, called, &called->layout.sites[2], depth, ticks);
}

static void assert_times(const struct Code *of, uint64_t calls, uint64_t self,
                         uint64_t total)
{
    assert_int_equal(Code_calls(of), calls);
    assert_int_equal(Counter_get(&of->hot.self_cycles), self);
    assert_int_equal(Counter_get(&of->hot.total_cycles), total);
}

TEST_WITH(test_a_collection_in_a_function_without_a_frame, set_up, tear_down)
{
    enter(outer, 3, finalizer, 100);
    // A dark function at depth 4 collects garbage, and a finalizer runs.
    hit(HIT_GARBAGE, 4, code, 110);
    enter(finalizer, 5, code, 120);
    leave(finalizer, 5, 125);
    hit(HIT_GARBAGE_END, 4, NULL, 150);
    leave(outer, 3, 155);
    assert_times(code, 1, 35, 40);
    assert_times(outer, 1, 15, 55);
    assert_int_equal(Counter_get(&trace->unwound), 0);
}

TEST_WITH(test_frames_that_have_ended_are_closed_first, set_up, tear_down)
{
    enter(outer, 3, code, 100);
    // The call of the finalizer ends without an event.
    enter(finalizer, 4, outer, 105);
    hit(HIT_GARBAGE, 3, outer, 110);
    hit(HIT_GARBAGE_END, 3, NULL, 150);
    assert_int_equal(Counter_get(&trace->unwound), 1);
    assert_ptr_equal(trace->top->code, outer);
    assert_times(code, 1, 40, 40);
}

TEST_WITH(test_a_collection_without_an_end, set_up, tear_down)
{
    enter(outer, 3, code, 100);
    hit(HIT_GARBAGE, 3, outer, 110);
    hit(HIT_GARBAGE, 3, outer, 120);
    hit(HIT_GARBAGE_END, 3, NULL, 150);
    assert_times(code, 2, 30, 30);
    // The beginning of this collection was not seen.
    hit(HIT_GARBAGE_END, 3, NULL, 160);
    assert_ptr_equal(trace->top->code, outer);
    assert_times(code, 2, 30, 30);
}

TEST_WITH(test_the_caller_of_a_collection_without_an_end, set_up, tear_down)
{
    enter(outer, 3, code, 100);
    hit(HIT_GARBAGE, 3, outer, 110);
    enter(finalizer, 4, outer, 120);
    leave(finalizer, 4, 130);
    leave(outer, 3, 165);
    assert_ptr_equal(trace->top, trace->bottom);
    assert_int_equal(Counter_get(&trace->unwound), 1);
    assert_int_equal(Counter_get(&outer->hot.total_cycles), 65);
}

TEST_WITH(test_a_long_pause_is_no_wait, set_up, tear_down)
{
    engine.contention.long_span = 20; // Other threads could run after 20 ticks.
    enter(outer, 3, code, 100);
    hit(HIT_GARBAGE, 3, outer, 105);
    hit(HIT_GARBAGE_END, 3, NULL, 405);
    leave(outer, 3, 410);
    assert_times(code, 1, 300, 300);
    assert_times(outer, 1, 10, 310);
    assert_int_equal(Counter_get(&code->hot.waited_cycles), 0);
    assert_int_equal(engine.contention.long_span, 20);
}
