// SPDX-License-Identifier: MIT
// tracer/share: windows that decay, totals that do not.
#include "tracer/share.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define S 1e9 // ns

static void assert_near(double value, double expected, double by)
{
    if (!(fabs(value - expected) <= by))
        fail_msg("%g is not %g", value, expected);
}

// `part` of every period, from `from` to `to` seconds.
static void load(struct ShareValue *value, double from, double to,
                 double period, double part)
{
    for (double t = from + period; t <= to + 1e-9; t += period)
        ShareValue_add(value, t * S, period * part * S);
}

static void test_nothing_is_zero(void **state)
{
    struct ShareValue value = {0};

    (void)state;
    assert_true(ShareValue_window(&value, 0) == 0);
    assert_true(ShareValue_total(&value, 0) == 0);
    assert_true(ShareValue_window(&value, 9 * S) == 0);
    assert_true(ShareValue_total(&value, 9 * S) == 0);
    ShareValue_add(&value, 1 * S, 0);
    ShareValue_add(&value, 1 * S, -5);
    ShareValue_add(&value, 1 * S, NAN);
    assert_true(ShareValue_window(&value, 9 * S) == 0);
}

// Right from the first second, and at any sampling rate.
static void test_a_steady_load_shows_at_once(void **state)
{
    static const double periods[] = {0.001, 0.02, 0.5};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct ShareValue value = {0};

        load(&value, 0, 1, periods[i], 0.25);
        assert_near(ShareValue_window(&value, 1 * S), 0.25, 0.01);
        load(&value, 1, 30, periods[i], 0.25);
        assert_near(ShareValue_window(&value, 30 * S), 0.25, 0.01);
        assert_near(ShareValue_total(&value, 30 * S), 0.25, 1e-6);
    }
}

static void test_the_window_forgets(void **state)
{
    struct ShareValue value = {0};
    double now = 20 * S, full;

    (void)state;
    load(&value, 0, 20, 0.01, 1);
    assert_near(ShareValue_window(&value, now), 1, 0.002);
    now += SHARE_WINDOW * S;
    full = 1 - exp(-now / (SHARE_WINDOW * S));
    assert_near(ShareValue_window(&value, now), exp(-1) / full, 0.01);
    assert_near(ShareValue_total(&value, now), 0.8, 1e-6);
    assert_true(ShareValue_window(&value, 1000 * S) < 1e-6);
}

static void test_a_long_gap_is_no_peak(void **state)
{
    struct ShareValue value = {0};

    (void)state;
    load(&value, 0, 10, 0.01, 1);
    ShareValue_add(&value, 70 * S, 60 * S); // it was stopped for a minute
    assert_near(ShareValue_window(&value, 70 * S), 1, 0.001);
    assert_near(ShareValue_total(&value, 70 * S), 1, 1e-6);
}

static void test_several_threads_may_pass_one(void **state)
{
    struct ShareValue value = {0};

    (void)state;
    for (int i = 0; i < 4; i++)
        load(&value, 0, 20, 0.02, 1); // not in order either
    assert_near(ShareValue_total(&value, 20 * S), 4, 1e-6);
}

static void test_a_reader_may_be_late(void **state)
{
    struct ShareValue value = {0};

    (void)state;
    load(&value, 0, 10, 0.01, 0.5);
    assert_near(ShareValue_window(&value, 9.999 * S), 0.5, 0.01);
    assert_true(isfinite(ShareValue_window(&value, -1 * S)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_zero),
        cmocka_unit_test(test_a_steady_load_shows_at_once),
        cmocka_unit_test(test_the_window_forgets),
        cmocka_unit_test(test_a_long_gap_is_no_peak),
        cmocka_unit_test(test_several_threads_may_pass_one),
        cmocka_unit_test(test_a_reader_may_be_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
