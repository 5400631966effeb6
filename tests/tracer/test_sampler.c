// SPDX-License-Identifier: MIT
// Tests tracer/sample/sampler. In virtual time there are no samples by signals,
// only observations. The tests check which functions get the time.
#include "ipc/base/heap.h"
#include "tracer/sample/sampler.h"

#include "tests/tracer/fake_frames.h"
#include "tests/unit.h"

#include "tests/tracer/make_code.h"

#include <math.h>

#include "tests/between.h"

enum { ROOT = 0x1000, LONG = 0x2000, SHORT = 0x3000, HIDDEN = 0x5000 };

static struct Opcodes opcodes; // None of these opcodes is a call.
static struct Clock counter;
static struct Registry *registry;
static struct Sampler *sampler;

static void begin(const struct SampleClock *clock)
{
    static const uintptr_t codes[] = {ROOT, LONG, SHORT};
    struct SamplerParts parts = {.layout = &LAYOUT,
                                 .opcodes = &opcodes,
                                 .counter = &counter,
                                 .clock = clock,
                                 .signal = -1};

    Clock_start(&counter);
    parts.registry = registry = Registry_new();
    for (size_t i = 0; i < 3; i++)
        Registry_add(registry, make_code(Registry_next_id(registry), codes[i]));
    assert_int_equal(Sampler_new(&sampler, &parts, 100), 0);
}

static void end(void)
{
    Sampler_stop(sampler);
    Registry_free(registry);
}

static const struct Share *share_of(uintptr_t code)
{
    return &Registry_find(registry, code)->share;
}

static double cpu_s(uintptr_t code)
{
    return (double)Counter_get(&share_of(code)->cpu.total_ns) * 1e-9;
}

static double wait_s(uintptr_t code)
{
    return (double)Counter_get(&Share_parts(share_of(code))->wait.total_ns) *
           1e-9;
}

static double under_s(uintptr_t code)
{
    return (double)Counter_get(
               &Share_parts(share_of(code))->cumulative.total_ns) *
           1e-9;
}

static struct SamplerTotals totals(void)
{
    struct SamplerTotals totals;

    Sampler_totals(sampler, &totals);
    return totals;
}

static void call(struct FakeThread *thread, uintptr_t code)
{
    struct FakeFrame *frame = (void *)thread->top;

    *frame = (struct FakeFrame){.code = code, .previous = thread->frame};
    thread->top += sizeof *frame;
    thread->frame = (uintptr_t)frame;
}

static void make_stack(struct FakeThread *thread, uintptr_t top)
{
    memset(thread, 0, sizeof *thread);
    thread->chunk = thread->top = (uintptr_t)thread->frames;
    call(thread, ROOT);
    call(thread, top);
}

#define TID 0x7ffffff0

static struct {
    uint64_t wall_ns, cpu_ns; // Each reading of a clock takes 1 us.
    bool runs;
    struct FakeThread thread;
} world;

static void pass(uint64_t ns)
{
    world.wall_ns += ns;
    world.cpu_ns += world.runs ? ns : 0;
}

static uint64_t read_world(void *context, clockid_t id)
{
    (void)context;
    pass(1000);
    return id == CLOCK_MONOTONIC ? world.wall_ns : world.cpu_ns;
}

static void simulate(uintptr_t top)
{
    static const struct SampleClock clock = {.read_ns = read_world};
    const struct ListedThread thread = {(uintptr_t)&world.thread, TID, "f", 0};

    world.wall_ns = world.cpu_ns = 1000000000;
    world.runs = false;
    make_stack(&world.thread, top);
    begin(&clock);
    assert_int_equal(Sampler_set_threads(sampler, &thread, 1), 0);
}

// Returns the number of the sampler's steps.
static int run(double seconds)
{
    uint64_t until = world.wall_ns + (uint64_t)(seconds * 1e9), due;
    int steps = 1;

    for (; (due = Sampler_step(sampler)) < until; steps++)
        if (due > world.wall_ns)
            pass(due - world.wall_ns);
    if (until > world.wall_ns)
        pass(until - world.wall_ns);
    return steps;
}

static void assert_s(double value, double expected)
{
    if (!(fabs(value - expected) <= 0.12)) // One observation.
        fail_msg("%g s are not %g", value, expected);
}

TEST_WITH(test_time_is_credited_where_it_passes, NULL, end)
{
    struct Snapshot *snapshot = Snapshot_new();
    const struct Caller *functions;
    const struct Thread *shares;

    simulate(LONG);
    world.runs = true;
    run(20);
    assert_s(cpu_s(LONG), 20);
    assert_s(under_s(ROOT), 20);
    assert_true(cpu_s(ROOT) == 0 && wait_s(LONG) == 0);
    world.runs = false; // The thread now waits in the function.
    run(20);
    // The sampler seldom observes a waiting thread.
    assert_true(wait_s(LONG) > 19 && wait_s(LONG) < 20.1);
    assert_s(cpu_s(LONG), 20);
    shares = Sampler_threads(sampler, snapshot, 0);
    assert_int_equal(snapshot->thread_count, 1);
    functions = shares[0].functions;
    assert_int_equal(shares[0].tid, TID);
    assert_string_equal(shares[0].name, "f");
    assert_s(shares[0].cpu_s, 20);
    assert_int_equal(functions[0].id, Registry_find(registry, LONG)->hot.id);
    assert_float_equal(functions[0].share, shares[0].cpu_share, 0.01);
    assert_true(shares[0].wait_share > 0.4);
    // The window was shorter while the thread was running.
    assert_float_equal(shares[0].cpu_share + shares[0].wait_share, 1, 0.01);
    assert_true(shares[0].cpu_share > 0.15 && shares[0].cpu_share < 0.3);
    Snapshot_free(snapshot);
    assert_true(totals().elsewhere == 0);
}

// An observation that finds a thread running does not show in which function
// the thread has waited.
TEST_WITH(test_who_is_met_running_has_not_waited_there, NULL, end)
{
    simulate(LONG);
    run(2);
    world.thread.frame = world.thread.chunk; // The thread is in ROOT.
    for (int i = 0; i < 40; i++) {
        world.runs = true;
        run(0.025);
        world.runs = false;
        run(0.025);
    }
    make_stack(&world.thread, SHORT);
    world.runs = true;
    run(1);
    assert_true(wait_s(SHORT) == 0);
    world.runs = false;
    run(3);
    assert_true(wait_s(SHORT) > 2);
}

TEST_WITH(test_after_a_stall, NULL, end)
{
    simulate(LONG);
    world.runs = true;
    run(1);
    pass(5000000000);
    assert_between(run(1), 18, 22); // Missed wake-ups are not made up for.
    assert_s(cpu_s(LONG), 7);
}
