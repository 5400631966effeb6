// SPDX-License-Identifier: MIT
// Tests when steps of event loops are observed, and what observations find. The
// limit is so long that the test's own time does not matter.
#include "tracer/sample/stall_watch.h"

#include "tests/tracer/fake_frames.h"
#include "tests/unit.h"

#include "tests/tracer/make_code.h"
#include <string.h>

#define HZ 1e9
#define LIMIT_S 1000.0
#define S UINT64_C(1000000000)
#define OUTER 0x1000
#define INNER 0x2000
#define UNKNOWN 0x3000

static struct EventLoops loops;
static struct Clock counter; // a tick is a nanosecond
static struct Memory memory;
static struct WalkCopies copies = {.memory = &memory};
static struct Walk walk;
static struct Attribution attribution;
static struct StallWatch watch;
static struct FakeThread thread;
static struct EventLoop *loop;

static void add(uint32_t id, uintptr_t address, const char *name)
{
    struct Code *code = make_code(id, address);

    Heap_free(code->who.name);
    code->who.name = Heap_text(name);
    Registry_add(attribution.registry, code);
}

static int set_up(void **state)
{
    (void)state;
    attribution.registry = Registry_new();
    add(Registry_next_id(attribution.registry), OUTER, "outer");
    add(Registry_next_id(attribution.registry), INNER, "inner");
    assert_int_equal(Memory_open(&memory), 0);
    assert_int_equal(Walk_init(&walk, &LAYOUT, &copies), 0);
    EventLoops_init(&loops);
    EventLoops_reset(&loops, LIMIT_S, HZ);
    loop = EventLoops_take(&loops, &thread, 1);
    watch = (struct StallWatch){.loops = &loops,
                                .attribution = &attribution,
                                .walk = &walk,
                                .clock = &counter};
    thread.frame = (uintptr_t)&thread.frames[0];
    thread.frames[0] =
        (struct FakeFrame){UNKNOWN, (uintptr_t)&thread.frames[1], UNKNOWN + 2};
    thread.frames[1] =
        (struct FakeFrame){INNER, (uintptr_t)&thread.frames[2], INNER + 2};
    thread.frames[2] = (struct FakeFrame){OUTER, 0, OUTER + 2};
    atomic_store(&loop->state, (uintptr_t)&thread);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    EventLoops_reset(&loops, 0, HZ);
    Memory_close(&memory);
    Registry_free(attribution.registry);
    return 0;
}

static uint64_t step(uint64_t now_s)
{
    uint64_t due = StallWatch_step(&watch, now_s * S);

    return due == UINT64_MAX ? due : (due + S / 2) / S;
}

static void begin(double age_s, uintptr_t code)
{
    EventLoops_begin(&loops, loop,
                     Clock_read(&counter) - (uint64_t)(age_s * HZ), 1, code);
}

TEST_WITH(test_turns_are_rarer_while_nothing_stalls, set_up, tear_down)
{
    EventLoop_end(loop, 0);
    Counter_add(&loop->steps, 1);
    assert_int_equal(step(1), 801); // The event loop is new.
    assert_int_equal(step(800), 801);
    Counter_add(&loop->steps, 1);
    assert_int_equal(step(801), 801 + 3200);
    Counter_add(&loop->steps, 1);
    Counter_add(&loops.stall_count, 1);
    assert_int_equal(step(4001), 4001 + 800);
}

TEST_WITH(test_the_thread_sleeps_until_the_next_step, set_up, tear_down)
{
    Counter_add(&loop->steps, 1);
    assert_int_equal(step(1), 801);
    assert_true(step(801) == UINT64_MAX);
    assert_true(atomic_load(&loops.asleep));
    assert_true(step(5000) == UINT64_MAX);
    begin(1, OUTER);
    assert_false(atomic_load(&loops.asleep));
    assert_int_equal(step(6000), 6600); // The step may become a stall.
}

TEST_WITH(test_a_step_that_is_not_on_the_stack_has_ended, set_up, tear_down)
{
    begin(400, 0x7000);
    step(1);
    assert_int_equal(EventLoop_began(loop), 0);
}

TEST_WITH(test_a_step_without_end_is_observed_ever_less, set_up, tear_down)
{
    loops.limit /= 100;
    begin(400, OUTER);
    assert_int_equal(step(1), 1 + 8); // The step of the loop is new.
    assert_int_equal(step(9), 9 + 50);
    assert_int_equal(step(10), 9 + 50);
    assert_true(atomic_load(&loops.asleep));
    EventLoop_end(loop, 0);
    begin(0, OUTER);
    assert_int_equal(step(20), 20 + 6); // The next step has woken the thread.
}

TEST_WITH(test_the_outermost_functions_are_left_out, set_up, tear_down)
{
    struct FakeFrame frames[200];
    struct Stall stall = {.began = 1, .ended = 2};
    const char *stack;

    for (unsigned i = 0; i < 199; i++)
        frames[i] =
            (struct FakeFrame){INNER, (uintptr_t)&frames[i + 1], INNER + 2};
    frames[199] = (struct FakeFrame){OUTER, 0, OUTER + 2};
    thread.frame = (uintptr_t)&frames[0];
    begin(400, OUTER);
    step(1);
    EventLoops_stall(&loops, loop, &stall);
    stack = loops.stalls[0].place.stack;
    assert_memory_equal(stack, "…;inner;inner;", strlen("…;inner;inner;"));
    assert_null(strstr(stack, "outer"));
}

TEST_WITH(test_turns_observe_loops_alternately, set_up, tear_down)
{
    static int owners[5];
    unsigned seen = 0;

    EventLoop_end(loop, 0);
    for (int i = 0; i < 5; i++) {
        loop = EventLoops_take(&loops, &owners[i], 2 + i);
        atomic_store(&loop->state, (uintptr_t)&thread);
        begin(400, OUTER);
    }
    assert_int_equal(StallWatch_step(&watch, S), S + 10000000);
    for (int i = 0; i < 6; i++)
        seen += loops.loops[i].observed != NULL;
    assert_int_equal(seen, 2);
    for (int i = 1; i < 3; i++)
        StallWatch_step(&watch, S + (uint64_t)i * 10000000);
    for (int i = 1; i < 6; i++)
        assert_non_null(loops.loops[i].observed);
}

TEST_WITH(test_an_unreadable_stack_says_nothing, set_up, tear_down)
{
    struct Stall stall = {.began = 1, .ended = 2};

    atomic_store(&loop->state, 64);
    begin(400, OUTER);
    step(1);
    assert_true(EventLoop_began(loop) != 0);
    EventLoops_stall(&loops, loop, &stall);
    assert_string_equal(loops.stalls[0].place.name, "");
}

TEST_WITH(test_a_stack_without_known_functions_says_nothing, set_up, tear_down)
{
    struct Stall stall = {.began = 1, .ended = 2};

    thread.frames[0].previous = 0;
    begin(400, UNKNOWN);
    step(1);
    assert_true(EventLoop_began(loop) != 0);
    EventLoops_stall(&loops, loop, &stall);
    assert_string_equal(loops.stalls[0].place.name, "");
    assert_null(loop->observed);
}
