// SPDX-License-Identifier: MIT
// The tree of callers and callees: keys that unfold, fold, go to a function and
// come back, at every size.
#include "tests/tui/sample.h"
#include "tui/app/frame.h"
#include "tui/app/keyboard.h"
#include "tui/views/ui.h"
#include "tui/views/view_main.h"
#include "tui/views/view_table.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct Stage { // a viewer without a process
    struct Feed feed;
    struct Ui ui;
};

static void set_up(struct Stage *stage, int width, int height, bool sampled)
{
    stage->feed = (struct Feed){.rate_s = 1};
    Ui_init(&stage->ui, VIEWS, &stage->feed, false);
    assert_int_equal(Ui_resize(&stage->ui, width, height), 0);
    assert_int_equal(
        Model_push(&stage->ui.model,
                   Sample_new((struct SampleWish){.no_sampler = !sampled})),
        0);
    Frame_draw(&stage->ui);
}

static void press(struct Stage *stage, uint32_t key)
{
    Keyboard_press(&stage->ui, key);
    Frame_draw(&stage->ui);
}

// Checks that the selected line contains this text.
static void expect(struct Stage *stage, const char *wanted)
{
    struct Bytes bytes;
    Bytes_init(&bytes);
    Canvas_write(&stage->ui.canvas, &bytes);
    Bytes_put(&bytes, "", 1);
    char *at = strstr((char *)bytes.data, "\n▸");
    if (!at)
        at = (char *)bytes.data;
    else
        *strchr(at + 1, '\n') = 0;
    if (!strstr(at, wanted))
        fail_msg("no \"%s\" in \"%s\"", wanted, at);
    Bytes_release(&bytes);
}

static void test_keys(void **state)
{
    struct Stage stage;
    (void)state;
    set_up(&stage, 120, 40, true);
    struct CallersState *view = &stage.ui.callers;
    struct List *list = &stage.ui.lists[VIEW_CALLERS];
    uint64_t first = MAIN_VIEW.function(&stage.ui);
    press(&stage, 'c');
    assert_int_equal(stage.ui.view, VIEW_CALLERS);
    assert_true(view->tree.root == first);
    expect(&stage, Model_row_of(&stage.ui.model, first)->now->name);
    size_t folded = view->tree.count;
    press(&stage, 'j');
    expect(&stage, "CALLEES");
    press(&stage, PRESS_RIGHT);
    expect(&stage, "CALLEES"); // nothing to unfold there
    press(&stage, 'j');
    expect(&stage, "(itself)");
    press(&stage, 'j');
    press(&stage, PRESS_RIGHT);
    assert_true(view->tree.count > folded);
    press(&stage, PRESS_RIGHT); // into what is unfolded
    press(&stage, PRESS_LEFT);  // up again
    press(&stage, PRESS_LEFT);  // folds
    assert_int_equal(view->tree.count, folded);
    uint64_t id = view->tree.branches[list->selected].id;
    press(&stage, PRESS_ENTER);
    assert_true(view->tree.root == id);
    assert_true(MAIN_VIEW.function(&stage.ui) == id);
    press(&stage, PRESS_ENTER); // in the middle: opens annotate
    assert_int_equal(stage.ui.view, VIEW_ANNOTATE);
    assert_true(stage.ui.annotate.id == id);
    press(&stage, PRESS_ESCAPE);
    assert_true(view->tree.root == id);
    press(&stage, PRESS_ESCAPE);
    assert_true(view->tree.root == first);
    assert_int_equal(stage.ui.view, VIEW_CALLERS);
    press(&stage, PRESS_ESCAPE);
    assert_int_equal(stage.ui.view, VIEW_MAIN);
    assert_true(MAIN_VIEW.function(&stage.ui) == first);
    Ui_release(&stage.ui);
}

// Other views open the function in the middle, whether the main screen shows it
// or not.
static void test_a_filter_that_hides_it(void **state)
{
    struct Stage stage;
    (void)state;
    set_up(&stage, 120, 40, true);
    struct CallersState *view = &stage.ui.callers;
    struct List *list = &stage.ui.lists[VIEW_CALLERS];
    uint64_t first = MAIN_VIEW.function(&stage.ui);
    Model_filter(&stage.ui.model, "EqualityConstraint.execute");
    press(&stage, 'c');
    press(&stage, PRESS_END);
    for (int i = 0; i < 30 && view->depth == 0; i++) {
        press(&stage, PRESS_ENTER);
        press(&stage, 'k');
    }
    assert_int_equal(view->depth, 1);
    assert_true(view->tree.root != first);
    assert_string_equal(stage.ui.model.filter, "EqualityConstraint.execute");
    list->selected = 0;
    list->key = 0;
    while (view->tree.branches[list->selected].kind != BRANCH_ROOT)
        press(&stage, 'j');
    press(&stage, PRESS_ENTER);
    assert_int_equal(stage.ui.view, VIEW_ANNOTATE);
    assert_true(stage.ui.annotate.id == view->tree.root);
    Ui_release(&stage.ui);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_a_filter_that_hides_it),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
