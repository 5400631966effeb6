// SPDX-License-Identifier: MIT
// Tests that the selection of a list is always one of the rows, follows its
// row, and is always visible.
#include "tui/screen/key.h"
#include "tui/screen/keymap.h"
#include "tui/screen/list.h"

#include <string.h>

#include "tests/unit.h"

#include "tests/tui/picture.h"

static const char *const names[] = {"ash",   "birch", "cedar", "elm",
                                    "hazel", "larch", "maple", "oak"};
// Row i shows the name names[order[i]].
static int order[] = {0, 1, 2, 3, 4, 5, 6, 7};

static uint64_t key_of(const struct ListRows *rows, long row)
{
    (void)rows;
    return (uint64_t)order[row] + 1;
}

static bool has(const struct ListRows *rows, long row, const char *text)
{
    (void)rows;
    return strstr(names[order[row]], text) != NULL;
}

static void write_cell(struct ListCell *cell, const struct ListRows *rows,
                       long row, int column)
{
    (void)rows;
    ListCell_put(cell, STYLE_PLAIN, column ? "7" : names[order[row]]);
}

static const struct ListColumn columns[] = {
    {.title = "NAME",
     .width = 6,
     .gap = 2,
     .left = true,
     .grows = 100,
     .a_to_z = true},
    {.title = "NUMBER", .width = 6, .gap = 2, .importance = 1, .room = 6},
};

static struct ListRows trees(void)
{
    for (int i = 0; i < 8; i++)
        order[i] = i;
    return (struct ListRows){.count = 8,
                             .columns = columns,
                             .column_count = 2,
                             .key = key_of,
                             .has = has,
                             .write = write_cell};
}

static void turn(void)
{
    for (int i = 0; i < 8; i++)
        order[i] = 7 - i;
}

static void check(const struct List *list, long count, long height)
{
    long rows = height > 1 ? height : 1;
    assert_true(list->selected >= 0);
    assert_true(list->selected < count || (count == 0 && list->selected == 0));
    assert_true(list->top >= 0);
    assert_true(list->top <= list->selected);
    assert_true(list->selected < list->top + rows);
    // The list has no empty lines at the bottom if rows above are hidden.
    assert_true(list->top == 0 || list->top + rows <= count);
}

static const char *selected(struct List *list, const struct ListRows *rows)
{
    List_fit(list, rows, 4);
    check(list, rows->count, 4);
    return names[order[list->selected]];
}

TEST(test_the_selection_stays_with_its_row)
{
    struct List list = {0};
    struct ListRows rows = trees();
    turn();
    // The first row is selected, because no key was pressed yet.
    assert_string_equal(selected(&list, &rows), "oak");
    rows = trees();
    assert_string_equal(selected(&list, &rows), "ash");
    List_press(&list, &rows, REQUEST_DOWN, 0);
    assert_string_equal(selected(&list, &rows), "birch");
    turn();
    assert_string_equal(selected(&list, &rows), "birch");
    rows.count = 3; // The filter hides the row.
    assert_string_equal(selected(&list, &rows), "larch");
    rows.count = 8;
    // Now the filter shows the row again.
    assert_string_equal(selected(&list, &rows), "birch");
    List_press(&list, &rows, REQUEST_HOME, 0);
    assert_string_equal(selected(&list, &rows), "oak");
    rows = trees();
    // The selection stays at the top of the list.
    assert_string_equal(selected(&list, &rows), "ash");
    rows.count = 0;
    assert_int_equal(List_selected(&list, &rows), -1);
    List_press(&list, &rows, REQUEST_END, 0);
    List_fit(&list, &rows, 4);
    assert_int_equal(list.selected, 0);
}

TEST(test_search)
{
    struct List list = {0};
    struct ListRows rows = trees();
    assert_true(List_find(&list, &rows, "a", 1, true));
    assert_string_equal(selected(&list, &rows), "ash");
    assert_true(List_find(&list, &rows, "a", 1, false));
    assert_string_equal(selected(&list, &rows), "cedar");
    assert_true(List_find(&list, &rows, "a", -1, false));
    // At the top, the search continues from the bottom.
    assert_true(List_find(&list, &rows, "a", -1, false));
    assert_string_equal(selected(&list, &rows), "oak");
    // At the bottom, the search continues from the top.
    assert_true(List_find(&list, &rows, "a", 1, false));
    assert_string_equal(selected(&list, &rows), "ash");
    assert_true(List_find(&list, &rows, "elm", 1, false));
    // The selected row is the only match, so the search finds it again.
    assert_true(List_find(&list, &rows, "elm", 1, false));
    assert_string_equal(selected(&list, &rows), "elm");
    assert_false(List_find(&list, &rows, "rose", 1, true));
    assert_false(List_find(&list, &rows, "", 1, true));
    assert_string_equal(selected(&list, &rows), "elm");
    rows.count = 0;
    assert_false(List_find(&list, &rows, "a", 1, true));
}

static void draw(struct List *list, const struct ListRows *rows,
                 const char *expected)
{
    struct Canvas canvas;
    Canvas_init(&canvas, false);
    Canvas_resize(&canvas, 24, 4);
    List_draw(list, rows, &canvas, (struct Box){0, 0, 24}, 3);
    assert_string_equal(picture_of(&canvas), expected);
    Canvas_release(&canvas);
}

TEST(test_drawing)
{
    struct List list = {0};
    struct ListRows rows = trees();
    draw(&list, &rows,
         "  NAME           NUMBER\n"
         "▸ ash                 7\n"
         "  birch               7\n"
         "  cedar               7\n");
    List_press(&list, &rows, REQUEST_END, 0);
    rows.sorts = true;
    draw(&list, &rows,
         "  NAME▲          NUMBER\n"
         "  larch               7\n"
         "  maple               7\n"
         "▸ oak                 7\n");
    list.unmarked = true;
    list.sort = 1;
    rows.count = 1;
    draw(&list, &rows,
         "  NAME           NUMBER▼\n"
         "  ash                 7\n"
         "\n\n");
    // The arrow does not touch the next title.
    const struct ListColumn cost = {.title = "COST", .width = 4, .gap = 1};
    const struct ListColumn near[] = {columns[0], cost, cost, cost};
    rows.columns = near;
    rows.column_count = 4;
    draw(&list, &rows,
         "  NAME  COST▼ COST COST\n  ash       7    7    7\n\n\n");
    list.sort = 2;
    draw(&list, &rows,
         "  NAME   COST COST▼ COST\n  ash       7    7    7\n\n\n");
    list.sort = 1;
    rows.columns = columns;
    rows.column_count = 2;
    rows.absent = 1 << 1;
    draw(&list, &rows,
         "  NAME\n"
         "  ash\n"
         "\n\n");
}

TEST(test_clicks)
{
    struct List list = {0};
    struct ListRows rows = trees();
    struct Canvas canvas;
    Canvas_init(&canvas, false);
    Canvas_resize(&canvas, 40, 6);
    List_draw(&list, &rows, &canvas, (struct Box){1, 10, 24}, 3);
    Canvas_release(&canvas);
    static const struct {
        int x, y;
        enum ListAnswer answer;
        int selected;
    } clicks[] = {
        {12, 4, LIST_DONE, 2},
        {12, 4, LIST_OPENS, 2},
        {12, 2, LIST_DONE, 0},
        {9, 3, LIST_DONE, 0}, // This click is left of the list.
        // These clicks are right of the list and above it.
        {34, 3, LIST_DONE, 0},
        {12, 0, LIST_DONE, 0},
        {12, 5, LIST_DONE, 0}, // This click is below the list.
        // This click is on the title of a list that is not sorted.
        {12, 1, LIST_DONE, 0},
    };
    for (size_t i = 0; i < sizeof clicks / sizeof *clicks; i++) {
        uint32_t key = Key_click(clicks[i].x, clicks[i].y);
        assert_int_equal(List_press(&list, &rows, REQUEST_CLICK, key),
                         clicks[i].answer);
        assert_int_equal(list.selected, clicks[i].selected);
    }
    rows.count = 1;
    assert_int_equal(List_press(&list, &rows, REQUEST_CLICK, Key_click(12, 3)),
                     LIST_DONE); // The click is below the only row.
}

TEST(test_sorting)
{
    struct List list = {0};
    struct ListRows rows = trees();
    rows.sorts = true;
    List_arrange(&list, &rows, 23);
    list.place = (struct Box){0, 0, 24};
    uint32_t number = Key_click(18, 0), gap = Key_click(12, 0);
    assert_int_equal(List_press(&list, &rows, REQUEST_CLICK, number),
                     LIST_SORTS);
    assert_int_equal(list.sort, 1);
    assert_false(list.invert);
    List_press(&list, &rows, REQUEST_CLICK, number);
    assert_true(list.invert);
    List_press(&list, &rows, REQUEST_INVERT, 0);
    assert_false(list.invert);
    // The column after the last one is the first one.
    List_press(&list, &rows, REQUEST_SORT_NEXT, 0);
    assert_int_equal(list.sort, 0);
    List_press(&list, &rows, REQUEST_SORT_PREVIOUS, 0);
    assert_int_equal(list.sort, 1);
    // A click into the gap counts as a click on the column NAME.
    List_press(&list, &rows, REQUEST_CLICK, gap);
    assert_int_equal(list.sort, 0);
}
