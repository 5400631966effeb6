// SPDX-License-Identifier: MIT
// Tests the message about numbers that were saved as JSON.
#include "tui/views/ui.h"
#include "tui/views/view_table.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

// The viewer's data; there is no snapshot in it.
static struct Ui ui;

static const char *note(enum ViewId view, bool one_thread, bool baseline,
                        bool reset)
{
    ui.view = view;
    ui.model.one_thread = one_thread;
    ui.model.baseline = baseline;
    ui.model.reset = reset;
    return Ui_json_note(&ui);
}

static void test_numbers_of_the_whole_run(void **state)
{
    (void)state;
    assert_string_equal(note(VIEW_MAIN, false, false, false), "");
    assert_string_equal(note(VIEW_CALLERS, true, false, false), "");
    for (int other = 0; other < 8; other++)
        assert_string_equal(note(VIEW_FLAME, other & 1, other & 2, other & 4),
                            "");
}

static void test_of_a_thread(void **state)
{
    (void)state;
    assert_string_equal(note(VIEW_MAIN, true, false, false),
                        ". Its shares are this thread's.");
    assert_string_equal(
        note(VIEW_MAIN, true, false, true),
        ". Its shares are this thread's, its counts since the reset.");
    assert_non_null(strstr(note(VIEW_MAIN, true, true, false), "no changes"));
    assert_non_null(strstr(note(VIEW_MAIN, true, true, true), "this thread's"));
}

static void test_since_a_moment(void **state)
{
    (void)state;
    assert_string_equal(note(VIEW_MAIN, false, false, true),
                        ". Its counts are since the reset.");
    assert_string_equal(note(VIEW_MAIN, false, true, false),
                        ". Its numbers are no changes since the baseline.");
    // The hits of a listing always count since the start.
    assert_string_equal(note(VIEW_ANNOTATE, true, true, true),
                        ". Its hits are since the start.");
    assert_string_equal(note(VIEW_ANNOTATE, true, true, false), "");
}

static void test_nothing_has_come(void **state)
{
    struct Bytes out;

    (void)state;
    Bytes_init(&out);
    ui.views = VIEWS;
    note(VIEW_MAIN, false, false, false);
    assert_int_equal(Ui_write_json(&ui, &out), -ENODATA);
    assert_int_equal(out.size, 0);
    Bytes_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_the_whole_run),
        cmocka_unit_test(test_of_a_thread),
        cmocka_unit_test(test_since_a_moment),
        cmocka_unit_test(test_nothing_has_come),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
