// SPDX-License-Identifier: MIT
// Tests which values tracer/session/builder sets to null or estimates.
#include "tracer/session/builder.h"

#include "tests/tracer/make_engine.h"
#include "tracer/code/latency.h"
#include "tracer/code/means.h"
#include "tracer/code/spans.h"
#include "tracer/session/collect.h"
#include "tracer/session/costs.h"

#include <math.h>
#include <time.h>

#include "tests/unit.h"

struct Fixture {
    struct Engine engine;
    struct Session session;
    struct Snapshot *snapshot;
};

static void rest(double s)
{
    struct timespec time = {(time_t)s, (long)((s - floor(s)) * 1e9)};

    nanosleep(&time, NULL);
}

// The sampler observes only once, a tenth of a second after its start, so its
// clock stays at this time.
static void start_sampler(struct Fixture *f)
{
    const struct SamplerParts parts = {.registry = f->engine.registry,
                                       .layout = &f->engine.layout,
                                       .opcodes = &f->engine.opcodes,
                                       .counter = &f->engine.clock};

    assert_int_equal(Sampler_new(&f->session.sampler, &parts, 100), 0);
    rest(0.1);
    Sampler_collect(f->session.sampler);
}

static const struct Snapshot *build_as_it_is(struct Fixture *f)
{
    Snapshot_free(f->snapshot);
    RowLog_reclaim(&f->session.rows);
    f->snapshot = Builder_snapshot(&f->session);
    assert_non_null(f->snapshot);
    assert_int_equal(RowSet_settle(f->snapshot), 0);
    return f->snapshot;
}

// The tests change counters by hand, so build marks every code object as
// changed.
static const struct Snapshot *build(struct Fixture *f)
{
    struct Code *code = Registry_first(f->engine.registry);

    for (; code; code = Registry_next(code))
        Code_touch(code);
    return build_as_it_is(f);
}

static const struct Function *find(const struct Snapshot *snapshot,
                                   const struct Code *code)
{
    for (size_t i = 0; i < snapshot->function_count; i++)
        if (snapshot->functions[i].id == code->hot.id)
            return &snapshot->functions[i];
    return NULL;
}

static struct Code *called(struct Fixture *f, const char *name, uint64_t calls)
{
    struct Code *code = add_code(&f->engine, name, 500);

    Counter_set(&code->hot.entries, calls);
    return code;
}

// A function's time is null, not zero, if none of its calls has returned, or if
// each call has called a function without hooks.
TEST_FIXTURE(test_what_was_not_timed_is_null)
{
    struct Code *inside = called(f, "inside", 1), *lean = called(f, "lean", 3);
    struct Code *quick = called(f, "quick", 1), *gone = called(f, "gone", 1);
    const struct Snapshot *s;
    const struct Function *function;

    Counter_set(&lean->hot.total_cycles,
                9000); // Includes the cycles of the callees.
    Counter_set(&quick->hot.self_calls, 1);
    s = build(f);
    function = find(s, inside);
    assert_true(function->self_cycles == NULL_U64);
    assert_true(function->total_cycles == NULL_U64);
    assert_true(function->waited_cycles == NULL_U64);
    function = find(s, lean);
    assert_true(function->self_cycles == NULL_U64);
    assert_int_equal(function->total_cycles, 9000);
    assert_true(function->waited_cycles == NULL_U64);
    // The calls were timed, but took no more cycles than a hook costs.
    function = find(s, quick);
    assert_int_equal(function->self_cycles, 0);
    assert_int_equal(function->total_cycles, 0);
    assert_int_equal(function->waited_cycles, 0);
    Engine_retire(&f->engine, gone);
    Collect_drain(&f->session);
    s = build(f);
    assert_int_equal(s->retired_count, 1);
    assert_true(s->retired[0].self_cycles == NULL_U64);
    assert_true(s->retired[0].total_cycles == NULL_U64);
    assert_true(s->retired[0].waited_cycles == NULL_U64);
}

// Ocular subtracts the cost of hooks from the measured cycles. This cost has an
// error of a few ticks, so it can be larger than the cycles.
TEST_FIXTURE(test_no_cycles_below_zero)
{
    struct Code *code = called(f, "f", 18);
    const struct Function *function;

    Counter_set(&code->hot.self_calls, 18);
    Counter_set(&code->hot.self_cycles, (uint64_t)-280);
    Counter_set(&code->hot.total_cycles, (uint64_t)-1);
    function = find(build(f), code);
    assert_true(function->self_cycles == 0 && function->total_cycles == 0);
    assert_true(function->avg_cycles == 0);
}

// With one sample, Ocular knows that a hot function runs, but not how often it
// is called. So the snapshot has no rate.
TEST_FIXTURE(test_a_rate_that_is_not_known)
{
    struct Code *code = called(f, "f", 1000);
    double hz = Clock_hz(&f->engine.clock);

    Counter_set(&code->hot.self_calls, 1000);
    Counter_set(&code->hot.self_cycles, (uint64_t)(1000 * 2e-6 * hz));
    code->hot.dark = true;
    code->hot.exact = code->hot.calls_exact = false;
    start_sampler(f);
    // Without a sample, the calls are unknown even after a slice has begun.
    Spans_drop(code, 1, false);
    code->spans.arming = ARMED_SLICES;
    assert_true(isnan(find(build(f), code)->calls_estimated));
    code->spans.arming = ARMED_HOT;
    Counter_set(&code->share.cpu.total_ns, 5000000);
    Counter_set(&code->share.samples, 1);
    Counter_set(&code->share.run_samples, 1);
    assert_true(find(build(f), code)->calls_error > 0.5);
    assert_true(isnan(find(f->snapshot, code)->calls_per_s));
    Counter_set(&code->share.cpu.total_ns, 500000000);
    Counter_set(&code->share.samples, 100);
    Counter_set(&code->share.run_samples, 100);
    assert_true(find(build(f), code)->calls_error < 0.5);
    assert_false(isnan(find(f->snapshot, code)->calls_per_s));
    // This generator is resumed hundreds of times in each call. The generator
    // lost its hooks in the middle of each call, so the resumptions in a call
    // are unknown.
    Counter_set(&code->hot.resumed, 990);
    code->cold.dark_times = 10;
    Code_touch(code);
    assert_true(find(build(f), code)->calls_error > 0.5);
    assert_true(isnan(find(f->snapshot, code)->calls_per_s));
    code->cold.dark_times = 1;
    Code_touch(code);
    assert_true(find(build(f), code)->calls_error < 0.5);
}

// The rate is the function's share divided by the mean time of a call, whether
// or not the function has hooks.
TEST_FIXTURE(test_rate_by_shares)
{
    struct Code *code = called(f, "f", 1000);
    double hz = Clock_hz(&f->engine.clock), rate;
    struct ShareTime now;

    Counter_set(&code->hot.self_calls, 500);
    Counter_set(&code->hot.self_cycles, (uint64_t)(500 * 2e-6 * hz));
    Counter_set(&code->hot.waited_cycles, (uint64_t)(500 * 1e-6 * hz));
    start_sampler(f);
    now = Sampler_now(f->session.sampler);
    ShareValue_add(&code->share.cpu, &now, 0.2 * now.full_ns);
    ShareValue_add(&Share_own_parts(&code->share)->wait_in_calls, &now,
                   0.1 * now.full_ns);
    rate = (ShareValue_window(&code->share.cpu, &now) +
            ShareValue_window(&Share_own_parts(&code->share)->wait_in_calls,
                              &now)) /
           3e-6;
    code->hot.dark = true;
    code->spans.arming = ARMED_HOT;
    assert_float_equal(find(build(f), code)->calls_per_s, rate, rate / 1000);
    assert_int_equal(find(build(f), code)->rate_estimated, 1);
    // The function has got its hooks back a short time ago.
    code->hot.dark = false;
    Counter_set(&code->hot.entries, 1005);
    code->row.rate_at -= 1;
    assert_float_equal(find(build(f), code)->calls_per_s, rate, rate / 1000);
    assert_int_equal(find(build(f), code)->rate_estimated, 1);
    code->row.rate_at -= 1; // The hooks were installed a second ago.
    Counter_set(&code->hot.entries, 1025);
    assert_float_equal(find(build(f), code)->calls_per_s, 20, 2);
    assert_int_equal(find(build(f), code)->rate_estimated, 0);
}

// Calls that have ended since a walk over the tasks may be those that it found.
TEST_FIXTURE(test_suspended_calls_that_end)
{
    struct Code *code = called(f, "f", 10);
    uint64_t age = (uint64_t)(60 * Clock_hz(&f->engine.clock));

    atomic_store(&code->cold.early, true);
    Latency_suspended(code, 5, age, UINT64_MAX);
    assert_int_equal(find(build(f), code)->in_flight, 5);
    assert_float_equal(find(build(f), code)->oldest_s, 60, 1e-3);
    Counter_add(&Code_latency(code)->calls, 3);
    Code_touch(code);
    assert_int_equal(find(build(f), code)->in_flight, 2);
    assert_int_equal(find(build(f), code)->in_flight_is_least, 1);
    assert_true(isnan(find(build(f), code)->oldest_s));
}

// The function always calls a function without hooks. So samples say which part
// of its total time is its own time.
TEST_FIXTURE(test_self_by_samples)
{
    struct Code *code = called(f, "f", 100);
    const struct Function *function;

    Counter_set(&code->hot.total_cycles, 100 * 50000);
    Counter_set(&Share_own_parts(&code->share)->cumulative.total_ns, 1000000);
    Counter_set(&code->share.cpu.total_ns, 200000);
    Counter_set(&Share_own_parts(&code->share)->wait_in_calls.total_ns, 50000);
    Counter_set(&code->share.samples, 19); // Too few samples for an estimate.
    assert_true(isnan(find(build(f), code)->avg_cycles));
    Counter_set(&code->share.samples, 20);
    function = find(build(f), code);
    assert_float_equal(function->avg_cycles, 10000, 1e-6);
    assert_int_equal(function->avg_estimated, 1);
    assert_float_equal(Code_mean_cycles(code), 12500, 1e-6);
    // Ten calls of a hundred were timed.
    Counter_set(&code->hot.self_calls, 10);
    Counter_set(&code->hot.self_cycles, 10 * 7000);
    function = find(build(f), code);
    assert_float_equal(function->avg_cycles, 10000, 1e-6);
    assert_int_equal(function->avg_estimated, 1);
    Counter_set(&code->hot.self_calls, 64); // Enough timed calls for a mean.
    Counter_set(&code->hot.self_cycles, 64 * 7000);
    function = find(build(f), code);
    assert_float_equal(function->avg_cycles, 7000, 1e-6);
    assert_int_equal(function->avg_estimated, 0);
}

TEST_FIXTURE(test_garbage_collections_are_in_the_overhead)
{
    const struct AccountSource *source = &f->session.account.source;
    struct BudgetReading before = {0}, after = {0};
    const struct Snapshot *s;

    source->read(source->context, &before);
    Counter_set(&f->engine.garbage.known, 1);
    Counter_set(&f->engine.garbage.generations[0].collections, 300000);
    Counter_set(&f->engine.garbage.generations[2].collections, 100000);
    s = build(f);
    source->read(source->context, &after);
    assert_float_equal(after.threads - before.threads, 0.4, 1e-3);
    assert_int_equal(s->gc_generation_count, 3);
    assert_int_equal(s->gc_generations[0].collections, 300000);
    assert_int_equal(s->gc_generations[2].collections, 100000);
}

static void set_up(struct Fixture *f)
{
    make_engine(&f->engine);
    f->session.engine = &f->engine;
    f->session.start_ticks = Clock_read(&f->engine.clock);
    f->session.config.threshold = 500;
    f->session.budget = 0.25;
    snprintf(f->session.config.mode, sizeof f->session.config.mode, "adaptive");
    Collect_init(&f->session);
    Costs_init(&f->session);
}

static void tear_down(struct Fixture *f)
{
    Snapshot_free(f->snapshot);
    if (f->session.sampler)
        Sampler_stop(f->session.sampler);
    Transitions_release(&f->session.transitions);
    Retired_release(&f->session.retired);
    Roll_release(&f->session.roll);
    RowLog_release(&f->session.rows);
    Engine_release(&f->engine);
}
