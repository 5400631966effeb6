// SPDX-License-Identifier: MIT
// Tests tracer/session/called_from, which finds the callers to which a
// function's time in the whole run belongs, and writes the line about them in
// the report.
#include "tests/tracer/make_code.h"
#include "tracer/base/harmless.h"
#include "tracer/session/called_from.h"

#include "tests/unit.h"

#define MS 1000000.0

static struct ShareTime at(double s)
{
    return (struct ShareTime){.ns = s * 1e9, .age = s, .full_ns = 1e9};
}

struct Fixture {
    struct Registry *registry;
    struct Retired *retired;
    struct Code *callee;         // This function is not in the registry.
    struct Breakdown *breakdown; // Time of `callee` for each of its callers.
};

static struct Fixture set_up(void)
{
    struct Fixture made = {
        .registry = Registry_new(),
        .retired = calloc(1, sizeof *made.retired),
        .callee = make_code(999, 0x999),
        .breakdown = Heap_zeroed(1, sizeof *made.breakdown),
    };

    assert_non_null(made.breakdown);
    Share_own_parts(&made.callee->share)->callers = made.breakdown;
    return made;
}

static void tear_down(struct Fixture *made)
{
    Code_free(made->callee);
    Retired_release(made->retired);
    free(made->retired);
    Registry_free(made->registry);
}

// Adds samples of `ms` in which the caller `id` has called `callee`. An `id` of
// 0 stands for an unknown caller.
static void called(struct Fixture *made, uint32_t id, double s, double ms)
{
    struct ShareTime now = at(s);
    struct ShareCredit credit;

    ShareCredit_init(&credit, &now, ms * MS);
    ShareValue_credit(&Share_own_parts(&made->callee->share)->cumulative,
                      &credit);
    Breakdown_add(made->breakdown, id, &now, &credit);
}

static struct CalledFrom read(struct Fixture *made)
{
    struct CalledFrom from;

    CalledFrom_init(&from, made->callee, made->registry, made->retired);
    return from;
}

static void expect_caller(const struct CalledFrom *from, size_t i,
                          const char *name, double part)
{
    assert_string_equal(from->callers[i].name, name);
    assert_float_equal(from->callers[i].part, part, 1e-6);
}

TEST(test_callers_that_are_gone)
{
    struct Fixture made = set_up();
    struct Code *module = make_code(77, 0x7700);
    struct ShareTime now = at(1);
    struct CalledFrom from;

    Counter_set(&module->hot.entries, 1);
    // The name of the module's code is "name".
    Retired_add(made.retired, module);
    Code_free(module);
    called(&made, 77, 1, 50);
    called(&made, 78, 1, 20); // The record of this caller was deleted.
    called(&made, 0, 1, 10);
    // In this sample `callee` was the outermost frame.
    ShareValue_add(&Share_own_parts(&made.callee->share)->cumulative, &now,
                   20 * MS);
    from = read(&made);
    assert_int_equal(from.count, 1);
    expect_caller(&from, 0, "name", 0.5);
    assert_float_equal(from.unknown, 0.3, 1e-6);
    assert_float_equal(from.untraced, 0.2, 1e-6);
    tear_down(&made);
}

static void expect(const struct CalledFrom *from, const char *expected)
{
    struct Bytes out;
    char text[1000];
    char *line;

    Bytes_init(&out);
    CalledFrom_write(&out, from);
    assert_int_equal(out.error, 0);
    assert_true(out.size < sizeof text);
    memcpy(text, out.data ? (char *)out.data : "", out.size);
    text[out.size] = 0;
    assert_string_equal(text, expected);
    for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(Harmless_width(line) <= 80);
    Bytes_release(&out);
}

TEST(test_names_are_cut_and_harmless)
{
    char name[1001];
    struct CalledFrom from = {
        .callers = {{name, 0.4}, {name, 0.35}, {"c\033[2J\n", 0.25}},
        .count = 3};

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    expect(&from,
           "    time by caller: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx... 40%,\n"
           "        xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx... 35%, "
           "c\xef\xbf\xbd[2J\xef\xbf\xbd 25%\n");
}
