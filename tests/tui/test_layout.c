// SPDX-License-Identifier: MIT
// Tests which columns the main table has at every width of the screen. A wider
// screen never has fewer columns. test_sizes.c tests the lines of the screen.
#include "tui/views/table.h"

#include "tests/unit.h"

// Returns the list of columns that the main table has on a screen of `width`
// cells. Some columns need several processes, so the snapshot is one of several
// processes.
static struct List columns_at(int width, enum ColumnId sort, bool sampled)
{
    struct Snapshot snapshot = {0};
    struct Model model = {.snapshot = &snapshot,
                          .sampled = sampled,
                          .fleet = &(struct Standouts){0},
                          .latency = COLUMNS[sort].latency};
    struct List list = {.sort = (int)sort};
    struct Table table;
    Table_fill(&table, &model, NULL);
    List_arrange(&list, &table.rows, width - 1);
    return list;
}

static bool has(const struct List *list, enum ColumnId id)
{
    return List_place(list, (int)id) != NULL;
}

static void check_columns(const struct List *list, int width, bool sampled)
{
    // The cell before the row has the marker of the selection.
    int free_from = 1;
    assert_true(list->column_count >= 3);
    assert_true(has(list, COLUMN_FUNCTION));
    for (int i = 0; i < list->column_count; i++) {
        const struct ListPlace *place = &list->columns[i];
        assert_true(place->x > free_from);
        assert_true(place->width >= TABLE[place->column].width);
        assert_true(sampled || !COLUMNS[place->column].sampled);
        assert_true(i == 0 || place->column > list->columns[i - 1].column);
        free_from = place->x + place->width;
    }
    assert_true(free_from < width);
}

TEST(test_what_it_sorts_by_is_there)
{
    for (int sampled = 0; sampled < 2; sampled++)
        for (int id = 0; id < COLUMN_COUNT; id++)
            for (int width = 60; width <= 400; width++) {
                struct List list =
                    columns_at(width, (enum ColumnId)id, sampled);
                check_columns(&list, width, sampled);
                assert_true(has(&list, (enum ColumnId)id) ||
                            (COLUMNS[id].sampled && !sampled));
            }
}

TEST(test_wider_never_loses_a_column)
{
    for (int round = 0; round < 2 * COLUMN_COUNT; round++) {
        bool sampled = round & 1;
        enum ColumnId sort = (enum ColumnId)(round / 2);
        struct List before = columns_at(60, sort, sampled), now = before;
        for (int width = 61; width <= 400; width++, before = now) {
            now = columns_at(width, sort, sampled);
            for (int i = 0; i < before.column_count; i++)
                assert_true(has(&now, (enum ColumnId)before.columns[i].column));
        }
        for (int i = 0; i < COLUMN_COUNT; i++)
            assert_true(
                has(&now, (enum ColumnId)i) !=
                ((COLUMNS[i].sampled && !sampled) ||
                 !Column_is_in((enum ColumnId)i, COLUMNS[sort].latency)));
    }
}

TEST(test_one_process_has_no_column_of_workers)
{
    for (int fleet = 0; fleet < 2; fleet++)
        for (int latency = 0; latency < 2; latency++) {
            struct Snapshot snapshot = {0};
            struct Model model = {
                .snapshot = &snapshot,
                .sort = latency ? COLUMN_SLOW_WORKER : COLUMN_WORKER,
                .sampled = true,
                .fleet = fleet ? &(struct Standouts){0} : NULL,
                .latency = latency};
            struct List list = {.sort = (int)Model_sort_column(&model)};
            struct Table table;
            Table_fill(&table, &model, NULL);
            List_arrange(&list, &table.rows, 80);
            assert_int_equal(has(&list, model.sort), fleet);
            assert_true(has(&list, Model_sort_column(&model)));
        }
}
