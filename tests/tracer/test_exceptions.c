// SPDX-License-Identifier: MIT
// Tests tracer/hook/exceptions in virtual time: names of types, and the bucket
// of tokens. With the budget of the tests, the bucket gets 6250 tokens a
// second.
#include "tracer/hook/exceptions.h"

#include "tracer/code/registry.h"
#include "tracer/session/exception_rows.h"

#include "tests/tracer/make_code.h"
#include "tests/unit.h"

#include <stdio.h>

#define HZ 1e6 // ticks a second
#define SECOND ((uint64_t)HZ)

struct Fixture {
    struct Exceptions exceptions;
    struct ExceptionRates rates;
    struct Registry *registry;
    struct Code *code;
    struct Snapshot *snapshot;
    uint64_t ticks;
    bool on;
};

// The program uses the CPU all the time.
static uint64_t cpu_ns(const struct Fixture *f)
{
    return f->ticks * (uint64_t)(1e9 / HZ);
}

static void set_up(struct Fixture *f)
{
    f->registry = Registry_new();
    f->code = make_code(7, 0x1000);
    f->ticks = SECOND;
    f->on = true;
    Exceptions_reset(&f->exceptions);
    Exceptions_begin(&f->exceptions, f->ticks, cpu_ns(f), HZ, 0);
    Exceptions_limit(&f->exceptions, f->ticks, .02, 4);
}

static void tear_down(struct Fixture *f)
{
    Snapshot_free(f->snapshot);
    Exceptions_reset(&f->exceptions);
    Code_free(f->code);
    Registry_free(f->registry);
}

// Reports an exception, as the hook of RAISE does. The pointer `type` stands
// for the type, and is its name.
static struct ExceptionKind *raise(struct Fixture *f, const char *type,
                                   enum ExceptionAct act)
{
    struct Exceptions *e = &f->exceptions;
    struct ExceptionKind *kind = Exceptions_find(e, f->code, type);

    if (!kind && (kind = Exceptions_take(e, f->code, type, f->ticks))) {
        kind->lasting = type;
        kind->type = &kind->lasting;
        Exceptions_link(e, kind);
    }
    if (!kind)
        kind = &e->kinds[0];
    Exceptions_count(kind, act, f->ticks);
    if (f->code && act == EXCEPTION_RAISED)
        Counter_add(&f->code->cold.raised, 1);
    if (Exceptions_note(e) && Exceptions_end(e, f->ticks, cpu_ns(f)))
        f->on = false;
    return kind;
}

// Raises `rate` exceptions a second for `s` seconds. The governor checks the
// rate each second.
static void run(struct Fixture *f, double rate, double s)
{
    uint64_t end = f->ticks + (uint64_t)(s * HZ), step = (uint64_t)(HZ / rate);
    uint64_t look = f->ticks + SECOND;

    for (; f->ticks < end; f->ticks += step) {
        if (f->on)
            raise(f, "KeyError", EXCEPTION_RAISED);
        if (f->ticks >= look) {
            look += SECOND;
            f->on |= Exceptions_look(&f->exceptions, f->ticks, cpu_ns(f));
        }
    }
}

static struct Moment moment(struct Fixture *f)
{
    return (struct Moment){.registry = f->registry,
                           .exceptions = &f->exceptions,
                           .start_ticks = SECOND,
                           .now = (double)f->ticks / HZ,
                           .started = 1,
                           .hz = HZ,
                           .ticks = f->ticks,
                           .cpu_ns = cpu_ns(f)};
}

static const struct Snapshot *build(struct Fixture *f)
{
    struct Moment at = moment(f);

    Snapshot_free(f->snapshot);
    f->snapshot = Snapshot_new();
    ExceptionRows_fill(f->snapshot, &f->rates, &at);
    return f->snapshot;
}

TEST_FIXTURE(test_a_long_name_is_cut_between_characters)
{
    char type[2 * EXCEPTION_TYPE_SIZE + 1] = {0};
    const char *kept;

    for (size_t i = 0; i + 1 < sizeof type; i += 2)
        memcpy(type + i, "\xc3\xa4", 2);
    raise(f, type, EXCEPTION_RAISED);
    kept = build(f)->exceptions[0].type;
    assert_int_equal(strlen(kept), EXCEPTION_TYPE_SIZE - 2);
    assert_memory_equal(kept, type, strlen(kept));
}

TEST_FIXTURE(test_a_snapshot_in_a_window_has_the_time_before_it)
{
    struct Function function = {0};
    struct Moment at;
    uint64_t before;

    run(f, 100000, 40);
    before = build(f)->exceptions[0].raised;
    while (!f->on) {
        run(f, 100000, .001);
        f->on = Exceptions_look(&f->exceptions, f->ticks, cpu_ns(f));
    }
    assert_true(build(f)->exceptions[0].raised >= before);
    at = moment(f);
    ExceptionRows_fill_function(&function, f->code, &at);
    assert_float_equal((double)function.raised,
                       (double)f->snapshot->exceptions[0].raised, 2);
    run(f, 100000, 1);
    assert_float_equal(build(f)->exceptions[0].raised_per_s / 1e5, 1, .05);
}

TEST_FIXTURE(test_code_that_loses_its_kind_gives_its_rate_away)
{
    struct Code *old = f->code;

    run(f, 100000, 40);
    assert_true(Counter_get_double(&old->cold.raised_rate) > 1e-5);
    f->code = make_code(8, 0x2000);
    raise(f, "KeyError", EXCEPTION_RAISED);
    assert_float_equal(Counter_get_double(&old->cold.raised_rate), 0, 1e-12);
    assert_true(Counter_get_double(&f->code->cold.raised_rate) > 1e-5);
    Code_free(old);
}

TEST_FIXTURE(test_all_are_counted_again_if_there_are_fewer)
{
    uint64_t before;

    run(f, 100000, 10);
    run(f, 1000, 40);
    assert_true(f->on);
    before = build(f)->exceptions[0].raised;
    run(f, 1000, 10);
    assert_int_equal(build(f)->exceptions[0].raised, before + 10000);
    assert_int_equal(f->snapshot->exception_totals_exact, 0);
}

TEST_FIXTURE(test_bursts_are_counted_or_have_an_honest_error)
{
    run(f, 100000, .19);
    run(f, 10, 4);
    run(f, 100000, .19);
    assert_int_equal(build(f)->exceptions[0].raised, 2 * 19000 + 40);
    run(f, 10, 4);
    run(f, 100000, 1); // five times the tokens
    for (int i = 0; i < 6; i++) {
        const struct ExceptionRow *row = build(f)->exceptions;

        assert_float_equal((double)row->raised, 138080,
                           4 * row->error * (double)row->raised);
        run(f, 10, 1.1);
    }
}

// Until the first gap has ended, nothing says that a burst goes on.
TEST_FIXTURE(test_a_burst_at_the_start_is_a_lower_bound)
{
    const struct ExceptionRow *row;

    run(f, 100000, .6);
    row = build(f)->exceptions;
    assert_false(f->on);
    assert_int_equal(row->raised,
                     Counter_get(&f->exceptions.kinds[1].counts[0]));
    assert_true(row->error > 1 && isnan(row->raised_per_s));
}

TEST_FIXTURE(test_exceptions_of_a_replaced_kind_are_not_new)
{
    static char types[EXCEPTION_KINDS][8];
    const struct Snapshot *snapshot;
    const struct ExceptionRow *others;

    run(f, 1000, 15);
    for (int i = 1; i < EXCEPTION_KINDS; i++, f->ticks += SECOND / 1000) {
        snprintf(types[i], sizeof types[i], "T%d", i);
        raise(f, types[i], EXCEPTION_RAISED);
    }
    build(f);
    f->ticks += 100 * SECOND;
    raise(f, "New", EXCEPTION_RAISED);
    f->ticks += SECOND;
    snapshot = build(f);
    others = &snapshot->exceptions[snapshot->exception_count - 1];
    assert_true(others->raised >= 15000 && others->raised_per_s < 5);
}

TEST_FIXTURE(test_errors_stay_numbers)
{
    struct Exceptions *e = &f->exceptions;
    const struct ExceptionRow *rows;

    Exceptions_limit(e, f->ticks, INFINITY, 4);
    run(f, 100000, .9);
    Exceptions_limit(e, f->ticks, .02, 4); // Earlier events stay free.
    assert_true(e->tokens > 0);
    run(f, 100000, 1); // A burst, then only rare exceptions.
    run(f, 1, 4000);
    rows = build(f)->exceptions;
    assert_float_equal((double)rows[0].raised, 194000,
                       2 * rows[0].error * (double)rows[0].raised);
    raise(f, "Late", EXCEPTION_RAISED);
    assert_true(build(f)->exceptions[0].error > 1);
    for (int i = 0; i < 3000; i++, f->ticks += SECOND)
        Exceptions_look(e, f->ticks, cpu_ns(f));
    run(f, 100000, 5);
    assert_true(e->estimates[2].seen[EXCEPTION_RAISED] == 0);
    assert_true(isfinite(Counter_get_double(&e->estimates[2].rate_error)));
}
