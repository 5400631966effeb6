// SPDX-License-Identifier: MIT
// tracer/flame: whose time is whose, how it fades, that it is bounded and that
// nothing is kept for nobody.
#include "tracer/flame.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define S 1e9
#define PATH(...)                                                              \
    (const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / 4

static struct Flame flame;

static void add_in(double at, double ns, bool in_c, const uint32_t *path,
                   size_t depth)
{
    struct FlameSample sample = {path, depth, in_c, at, ns};

    Flame_add(&flame, &sample);
}

static void add(double at, double ns, const uint32_t *path, size_t depth)
{
    add_in(at, ns, false, path, depth);
}

static struct FlameTable *ask(double at)
{
    struct FlameTable *table = Flame_ask(&flame, at);

    assert_non_null(table);
    for (size_t i = 0; i < table->row_count; i++) // parents come first
        assert_true(i ? table->rows[i].parent < i
                      : table->rows[i].parent == NULL_U64);
    return table;
}

// The row of a path, or NULL.
static const struct FlameRow *find(const struct FlameTable *table,
                                   const uint32_t *path, size_t depth)
{
    size_t at = 0;

    for (size_t step = 0; step < depth; step++) {
        uint64_t id = path[step] ? path[step] : NULL_U64;
        size_t i = 1;

        while (i < table->row_count &&
               (table->rows[i].parent != at || table->rows[i].id != id))
            i++;
        if (i == table->row_count)
            return NULL;
        at = i;
    }
    return &table->rows[at];
}

static double sum(const struct FlameTable *table)
{
    double shares = 0;

    for (size_t i = 0; i < table->row_count; i++)
        shares += table->rows[i].share;
    return shares;
}

static void test_nobody_asks(void **state)
{
    (void)state;
    assert_false(Flame_is_wanted(&flame));
    assert_false(Flame_is_wanted(NULL));
    add(1 * S, 1e6, PATH(1)); // as a sampler that was a moment late
    assert_null(flame.nodes);
}

static void test_whose_time_it_is(void **state)
{
    const struct FlameRow *row;
    struct FlameTable *table = ask(0);

    (void)state;
    assert_int_equal(table->row_count, 1);
    assert_int_equal(table->samples, 0);
    FlameTable_free(table);
    assert_true(Flame_is_wanted(&flame));
    for (int i = 1; i <= 2000; i++) { // 20 s, until windows are full
        double at = i * 0.01 * S;

        if (i % 4 == 0)
            add(at, 0.01 * S, PATH(1));
        else if (i % 4 == 1)
            add(at, 0.01 * S, PATH(1, 2));
        else if (i % 4 == 2)
            add_in(at, 0.005 * S, true, PATH(1, 2, 3));
        else
            add(at, 0.01 * S, PATH(4, 2)); // the same function, another path
        if (i % 200 == 0)
            FlameTable_free(ask(at));
    }
    table = ask(20 * S);
    assert_int_equal(table->row_count, 6);
    assert_int_equal(table->samples, 2000);
    assert_true(fabs(find(table, PATH(1))->share - 0.25) < 0.01);
    assert_true(fabs(find(table, PATH(1, 2))->share - 0.25) < 0.01);
    assert_true(fabs(find(table, PATH(4, 2))->share - 0.25) < 0.01);
    assert_true(find(table, PATH(4))->share == 0);
    row = find(table, PATH(1, 2, 3));
    assert_true(fabs(row->share - 0.125) < 0.01);
    assert_true(row->c_share == row->share);
    assert_true(find(table, PATH(1, 2))->c_share == 0);
    assert_true(table->rows[0].share == 0);
    FlameTable_free(table);
}

// What one core has run since it was asked for, even if that was just now.
static void test_a_young_window_is_full(void **state)
{
    struct FlameTable *table;

    (void)state;
    FlameTable_free(ask(100 * S));
    for (int i = 1; i <= 50; i++)
        add((100 + i * 0.01) * S, 0.01 * S, PATH(7));
    table = ask(100.5 * S);
    assert_true(fabs(find(table, PATH(7))->share - 1) < 0.02);
    assert_true(fabs(table->kept_s - 0.5) < 1e-6);
    FlameTable_free(table);
}

static void test_it_fades(void **state)
{
    struct FlameTable *table;

    (void)state;
    FlameTable_free(ask(0));
    for (int i = 1; i <= 1000; i++) {
        add(i * 0.01 * S, 0.01 * S, PATH(i <= 500 ? 1 : 2));
        if (i == 600)
            FlameTable_free(ask(6 * S));
    }
    table = ask(10 * S);
    // Half the time each; what is 5 s old counts for 1/e.
    assert_true(fabs(find(table, PATH(1))->share / find(table, PATH(2))->share -
                     exp(-1)) < 0.02);
    FlameTable_free(table);
}

static void test_nobody_asks_any_more(void **state)
{
    (void)state;
    FlameTable_free(ask(0));
    add(9 * S, 1e6, PATH(1));
    assert_non_null(flame.nodes);
    add(11 * S, 1e6, PATH(1));
    assert_null(flame.nodes);
    assert_false(Flame_is_wanted(&flame));
    FlameTable_free(ask(12 * S)); // and from the beginning
    assert_int_equal(flame.count, 1);
}

static void test_outside_and_cut_off(void **state)
{
    struct FlameTable *table;

    (void)state;
    FlameTable_free(ask(0));
    add(1 * S, 0.5 * S, NULL, 0);
    add(1 * S, 0.5 * S, PATH(0, 5));
    table = ask(1 * S);
    assert_true(table->rows[0].share > 0.3); // nothing of it was traced
    assert_true(find(table, PATH(0, 5))->share > 0.3);
    FlameTable_free(table);
}

// However many paths there are, the tree stays as large as it is, the large
// ones stay in it, and no time is lost.
static void test_it_is_bounded(void **state)
{
    struct FlameTable *table;
    double before = 0;

    (void)state;
    FlameTable_free(ask(0));
    for (uint32_t i = 1; i <= 50000; i++) {
        double at = i * 1e-4 * S;

        if (i % 2)
            add(at, 1e-4 * S, PATH(1, 2, 3));
        else
            add(at, 1e-4 * S, PATH(1, 4, 5 + i % 9000, 1000000 + i));
    }
    assert_true(flame.count <= FLAME_NODES);
    table = ask(5 * S);
    assert_true(table->row_count <= FLAME_NODES);
    assert_true(fabs(sum(table) - 1) < 0.03);
    assert_true(fabs(find(table, PATH(1, 2, 3))->share - 0.5) < 0.02);
    for (size_t i = 0; i < table->row_count; i++) { // all that is left of 4
        const struct FlameRow *row = &table->rows[i];

        while (row->parent != NULL_U64 && row->id != 4)
            row = &table->rows[row->parent];
        before += row->id == 4 ? table->rows[i].share : 0;
    }
    assert_true(fabs(before - 0.5) < 0.03);
    FlameTable_free(table);
}

static void test_recursion(void **state)
{
    uint32_t path[128];
    struct FlameTable *table;

    (void)state;
    for (int i = 0; i < 128; i++)
        path[i] = 9;
    FlameTable_free(ask(0));
    for (int i = 0; i < 100; i++)
        for (size_t depth = 1; depth <= 128; depth++)
            add((0.01 * i + 0.01) * S, 1e-4 * S, path, depth);
    table = ask(1 * S);
    assert_int_equal(table->row_count, 129);
    assert_non_null(find(table, path, 128));
    FlameTable_free(table);
}

static int set_up(void **state)
{
    (void)state;
    Flame_init(&flame);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    Flame_release(&flame);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nobody_asks),
        TEST(test_whose_time_it_is),
        TEST(test_a_young_window_is_full),
        TEST(test_it_fades),
        TEST(test_nobody_asks_any_more),
        TEST(test_outside_and_cut_off),
        TEST(test_it_is_bounded),
        TEST(test_recursion),
    };

    return cmocka_run_group_tests_name("tracer/flame", tests, NULL, NULL);
}
