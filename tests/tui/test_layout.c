// SPDX-License-Identifier: MIT
// The geometry holds at every size: nothing outside the screen, nothing on top
// of another, always a table, and a wider screen never loses a column.
#include "tui/views/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void check_lines(const struct Layout *layout, bool bare)
{
    int end = layout->body_y + layout->body_height;
    assert_true(layout->table_y >= LAYOUT_HEADER);
    assert_true(layout->body_y > layout->table_y);
    assert_true(layout->body_height >= 5);
    assert_true(end <= layout->height);
    if (layout->detail_y >= 0) {
        assert_true(layout->detail_height > 0);
        assert_true(end <= layout->detail_y);
        end = layout->detail_y + layout->detail_height;
    }
    assert_int_equal(layout->footer_y, bare ? -1 : layout->height - 1);
    assert_true(bare || end <= layout->footer_y);
    assert_true(!bare || layout->detail_y < 0);
}

static bool has(const struct Layout *layout, enum ColumnId id)
{
    for (int i = 0; i < layout->column_count; i++)
        if (layout->columns[i].id == (int)id)
            return true;
    return false;
}

static void check_columns(const struct Layout *layout, bool sampled)
{
    int free_from = 1; // the marker is before it
    assert_true(layout->column_count >= 3);
    assert_true(has(layout, COLUMN_FUNCTION));
    for (int i = 0; i < layout->column_count; i++) {
        const struct LayoutColumn *column = &layout->columns[i];
        assert_true(column->x > free_from);
        assert_true(column->width >= TABLE[column->id].width);
        assert_true(sampled || !COLUMNS[column->id].sampled);
        assert_true(i == 0 || column->id > layout->columns[i - 1].id);
        free_from = column->x + column->width;
    }
    assert_true(free_from < layout->width);
}

static void test_every_size(void **state)
{
    struct Layout layout;
    (void)state;
    for (int wish = 0; wish < 4; wish++)
        for (int width = 60; width <= 400; width++)
            for (int height = 12; height <= 120; height++) {
                struct TableWish what = {.sampled = wish & 1, .bare = wish & 2};
                Table_layout(&layout, width, height, what);
                assert_false(layout.too_small);
                check_lines(&layout, what.bare);
                check_columns(&layout, what.sampled);
            }
}

static void test_what_it_sorts_by_is_there(void **state)
{
    struct Layout layout;
    (void)state;
    for (int sampled = 0; sampled < 2; sampled++)
        for (int id = 0; id < COLUMN_COUNT; id++)
            for (int width = 60; width <= 400; width++) {
                struct TableWish wish = {.sampled = sampled,
                                         .sort = (enum ColumnId)id};
                Table_layout(&layout, width, 24, wish);
                check_columns(&layout, sampled);
                assert_true(has(&layout, wish.sort) ||
                            (COLUMNS[id].sampled && !sampled));
            }
}

static void test_wider_never_loses_a_column(void **state)
{
    struct Layout before, now;
    (void)state;
    for (int round = 0; round < 2 * COLUMN_COUNT; round++) {
        bool sampled = round & 1;
        struct TableWish wish = {.sampled = sampled,
                                 .sort = (enum ColumnId)(round / 2)};
        Table_layout(&before, 60, 24, wish);
        for (int width = 61; width <= 400; width++, before = now) {
            Table_layout(&now, width, 24, wish);
            for (int i = 0; i < before.column_count; i++)
                assert_true(has(&now, before.columns[i].id));
        }
        for (int i = 0; i < COLUMN_COUNT; i++)
            assert_true(has(&now, (enum ColumnId)i) ||
                        (COLUMNS[i].sampled && !sampled));
    }
}

static void test_what_the_usual_sizes_show(void **state)
{
    struct Layout layout;
    struct TableWish wish = {.sampled = true};
    (void)state;
    Table_layout(&layout, 60, 12, wish);
    assert_true(has(&layout, COLUMN_SHARE) && has(&layout, COLUMN_STATE));
    Table_layout(&layout, 80, 24, wish);
    assert_true(has(&layout, COLUMN_TREND) && has(&layout, COLUMN_AVG));
    Table_layout(&layout, 150, 40, wish);
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (TABLE[i].importance <= 11)
            assert_true(has(&layout, (enum ColumnId)i));
}

static void test_too_small(void **state)
{
    struct Layout layout;
    static const int sizes[][2] = {{59, 12}, {60, 11}, {0, 0}, {1, 1}, {-1, 5}};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Table_layout(&layout, sizes[i][0], sizes[i][1],
                     (struct TableWish){.sampled = true});
        assert_true(layout.too_small);
        assert_int_equal(layout.column_count, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_what_it_sorts_by_is_there),
        cmocka_unit_test(test_wider_never_loses_a_column),
        cmocka_unit_test(test_what_the_usual_sizes_show),
        cmocka_unit_test(test_too_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
