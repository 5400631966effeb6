// SPDX-License-Identifier: MIT
// tui/flame_history: what a path had between two tables, whichever those are.
#include "tui/flame_history.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static struct FlameHistory history;

static int end(void **state)
{
    (void)state;
    FlameHistory_release(&history);
    return 0;
}

// Root, 1, 1;2 and, from then on, 3;2: so many s of CPU time each.
static struct FlameTable *table_at(double kept_s, double one, double two,
                                   double other)
{
    const double s[] = {0, one, two, 0, other};
    const uint64_t ids[] = {NULL_U64, 1, 2, 3, 2};
    const uint64_t parents[] = {NULL_U64, 0, 1, 0, 3};
    size_t count = other > 0 ? 5 : 3;
    struct FlameTable *table = FlameTable_new();
    struct FlameRow *rows = Arena_alloc(&table->arena, count * sizeof *rows);

    for (size_t i = 0; i < count; i++)
        rows[i] = (struct FlameRow){.parent = parents[i],
                                    .id = ids[i],
                                    .cpu_ns = (uint64_t)(s[i] * 1e9),
                                    .c_ns = (uint64_t)(s[i] * 0.5e9)};
    table->kept_s = kept_s;
    table->samples = (uint64_t)(100 * kept_s);
    table->rows = rows;
    table->row_count = count;
    return table;
}

static void note(double kept_s, double one, double two, double other)
{
    struct FlameTable *table = table_at(kept_s, one, two, other);

    FlameHistory_note(&history, table);
    FlameTable_free(table);
}

static void expect(const struct FlameTable *table, enum FlamePeriod period,
                   double expected_s, const double *shares)
{
    double s = NAN, samples = NAN;
    struct FlameShare *found =
        FlameHistory_shares(&history, table, period, &s, &samples);

    assert_non_null(found);
    assert_true(fabs(s - expected_s) < 1e-9);
    assert_true(fabs(samples - 100 * expected_s) < 1e-6);
    for (size_t i = 0; i < table->row_count; i++) {
        if (fabs(found[i].self - shares[i]) > 1e-9)
            fail_msg("row %zu: %g, not %g", i, found[i].self, shares[i]);
        assert_true(fabs(found[i].in_c - shares[i] / 2) < 1e-9);
    }
    free(found);
}

static void test_periods(void **state)
{
    struct FlameTable *table;

    (void)state;
    for (int s = 1; s <= 100; s++) // one works for 90 s, then two
        note(s, s < 90 ? s : 90, s < 90 ? 0 : s - 90, 0);
    table = table_at(101, 90, 10, 1);
    expect(table, FLAME_5_S, 5, (double[]){0, 0, 0.8, 0, 0.2});
    expect(table, FLAME_60_S, 60,
           (double[]){0, 49. / 60, 10. / 60, 0, 1. / 60});
    expect(table, FLAME_SINCE, 101,
           (double[]){0, 90. / 101, 10. / 101, 0, 1. / 101});
    FlameHistory_mark(&history, table);
    FlameTable_free(table);
    table = table_at(103, 91, 10, 1.5);
    expect(table, FLAME_SINCE, 2, (double[]){0, 0.5, 0, 0, 0.25});
    FlameTable_free(table);
}

static void test_what_there_is(void **state)
{
    struct FlameTable *table = table_at(10, 4, 1, 0);
    double s, samples;

    (void)state;
    assert_null(
        FlameHistory_shares(&history, table, FLAME_LATELY, &s, &samples));
    note(10, 4, 1, 0);
    assert_null(FlameHistory_shares(&history, table, FLAME_5_S, &s, &samples));
    note(10.5, 4, 1, 0); // too soon to be kept
    assert_int_equal(history.count, 1);
    FlameTable_free(table);
    table = table_at(12, 4, 0.5, 3); // a part of two's is its caller's now
    expect(table, FLAME_60_S, 2, (double[]){0, 0, 0, 0, 1.5});
    FlameTable_free(table);
}

static void test_a_minute_has_room(void **state)
{
    double last;

    (void)state;
    for (int i = 0; i < 10000; i++) {
        note(i * 0.1, i * 0.1, 0, 0);
        assert_true(history.count <= FLAME_MOMENTS);
    }
    last = history.moments[history.count - 1].at_s;
    assert_true(last > 999 && history.moments[0].at_s <= last - 60);
    assert_true(history.moments[1].at_s > last - 60);
}

static void test_another_trace(void **state)
{
    (void)state;
    note(50, 40, 1, 0);
    note(52, 41, 1, 0);
    note(1, 0.5, 0, 0);
    assert_int_equal(history.count, 1);
}

// A process that sends none, and rows that are none.
static void test_without_totals(void **state)
{
    struct FlameTable *table = table_at(10, 4, 1, 1);
    struct FlameRow *rows = (struct FlameRow *)table->rows;
    double s, samples;

    (void)state;
    rows[4].parent = 4;
    FlameHistory_note(&history, table);
    assert_null(
        FlameHistory_shares(&history, table, FLAME_SINCE, &s, &samples));
    rows[4].parent = 3;
    rows[0].cpu_ns = NULL_U64;
    FlameHistory_note(&history, table);
    FlameHistory_mark(&history, table);
    assert_null(
        FlameHistory_shares(&history, table, FLAME_SINCE, &s, &samples));
    FlameTable_free(table);
}

#define TEST(name) cmocka_unit_test_teardown(name, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_periods),           TEST(test_what_there_is),
        TEST(test_a_minute_has_room), TEST(test_another_trace),
        TEST(test_without_totals),
    };

    return cmocka_run_group_tests_name("tui/flame_history", tests, NULL, NULL);
}
