// SPDX-License-Identifier: MIT
// A list's selection is always one of its rows and always on the screen.
#include "tui/screen/keymap.h"
#include "tui/screen/list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void check(const struct List *list, long count, long height)
{
    long rows = height > 1 ? height : 1;
    assert_true(list->selected >= 0);
    assert_true(list->selected < count || (count == 0 && list->selected == 0));
    assert_true(list->top >= 0);
    assert_true(list->top <= list->selected);
    assert_true(list->selected < list->top + rows);
    // No empty lines while rows are hidden above.
    assert_true(list->top == 0 || list->top + rows <= count);
}

static void test_moving(void **state)
{
    struct List list = {0};
    (void)state;
    List_fit(&list, 100, 10);
    assert_true(List_move(&list, REQUEST_DOWN));
    assert_int_equal(list.selected, 1);
    List_move(&list, REQUEST_PAGE_DOWN);
    assert_int_equal(list.selected, 10);
    List_move(&list, REQUEST_END);
    assert_int_equal(list.selected, 99);
    List_move(&list, REQUEST_DOWN);
    assert_int_equal(list.selected, 99);
    List_fit(&list, 100, 10);
    assert_int_equal(list.top, 90);
    List_move(&list, REQUEST_PAGE_UP);
    assert_int_equal(list.selected, 90);
    List_move(&list, REQUEST_HOME);
    List_move(&list, REQUEST_UP);
    assert_int_equal(list.selected, 0);
    List_move(&list, REQUEST_SCROLL_DOWN);
    assert_int_equal(list.selected, LIST_SCROLL);
    List_move(&list, REQUEST_SCROLL_UP);
    assert_int_equal(list.selected, 0);
    assert_int_equal(List_at(&list, 10), -1); // beyond the screen
    assert_int_equal(List_at(&list, -1), -1);
    List_select(&list, 60);
    List_fit(&list, 100, 10);
    assert_int_equal(List_at(&list, 2), 62);
    List_fit(&list, 3, 10);
    assert_int_equal(List_at(&list, 3), -1); // beyond the rows
    assert_false(List_move(&list, REQUEST_QUIT));
    assert_false(List_move(&list, REQUEST_NONE));
}

static void test_always_in_sight(void **state)
{
    struct List list = {0};
    unsigned random = 7;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        random = random * 1103515245 + 12345;
        long count = (random >> 8) % 5 ? (random >> 16) % 200 : 0;
        long height = (random >> 20) % 40;
        List_move(&list, REQUEST_UP + (int)(random >> 24) % 6);
        List_fit(&list, count, height);
        check(&list, count, height);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moving),
        cmocka_unit_test(test_always_in_sight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
