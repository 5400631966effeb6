// SPDX-License-Identifier: MIT
// Tests the tree of callers and callees: the keys that unfold, fold, go to a
// function and go back.
#include "tests/tui/stage.h"
#include "tui/app/frame.h"
#include "tui/views/view_main.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void set_up(struct Stage *stage)
{
    Stage_init(stage, 120, 40);
    Stage_push(stage, (struct SampleWish){0});
    Frame_draw(&stage->ui);
}

// Checks that the selected line contains this text.
static void expect(struct Stage *stage, const char *wanted)
{
    char line[512];
    const char *at = strstr(Stage_text(stage), "\n▸");
    snprintf(line, sizeof line, "%.*s", at ? (int)strcspn(at + 1, "\n") : 0,
             at ? at + 1 : "");
    if (!strstr(line, wanted))
        fail_msg("no \"%s\" in \"%s\"", wanted, line);
}

static void test_keys(void **state)
{
    struct Stage stage;
    (void)state;
    set_up(&stage);
    struct CallersState *view = &stage.ui.callers;
    struct List *list = &stage.ui.lists[VIEW_CALLERS];
    uint64_t first = MAIN_VIEW.function(&stage.ui);
    Stage_press(&stage, 'c');
    assert_int_equal(stage.ui.view, VIEW_CALLERS);
    assert_true(view->tree.root == first);
    expect(&stage, Model_row_of(&stage.ui.model, first)->now->name);
    size_t folded = view->tree.count;
    Stage_press(&stage, 'j');
    expect(&stage, "CALLEES");
    Stage_press(&stage, PRESS_RIGHT);
    expect(&stage, "CALLEES"); // this line cannot be unfolded
    Stage_press(&stage, 'j');
    expect(&stage, "(itself)");
    Stage_press(&stage, 'j');
    Stage_press(&stage, PRESS_RIGHT);
    assert_true(view->tree.count > folded);
    Stage_press(&stage, PRESS_RIGHT); // moves into the unfolded branch
    Stage_press(&stage, PRESS_LEFT);  // moves to its parent
    Stage_press(&stage, PRESS_LEFT);  // folds the parent
    assert_int_equal(view->tree.count, folded);
    uint64_t id = view->tree.branches[list->selected].id;
    Stage_press(&stage, PRESS_ENTER);
    assert_true(view->tree.root == id);
    assert_true(MAIN_VIEW.function(&stage.ui) == id);
    // opens annotate for the function in the middle
    Stage_press(&stage, PRESS_ENTER);
    assert_int_equal(stage.ui.view, VIEW_ANNOTATE);
    assert_true(stage.ui.annotate.id == id);
    Stage_press(&stage, PRESS_ESCAPE);
    assert_true(view->tree.root == id);
    Stage_press(&stage, PRESS_ESCAPE);
    assert_true(view->tree.root == first);
    assert_int_equal(stage.ui.view, VIEW_CALLERS);
    Stage_press(&stage, PRESS_ESCAPE);
    assert_int_equal(stage.ui.view, VIEW_MAIN);
    assert_true(MAIN_VIEW.function(&stage.ui) == first);
    Stage_release(&stage);
}

// Other views open the function in the middle, even if the main screen does not
// show it.
static void test_a_filter_that_hides_it(void **state)
{
    struct Stage stage;
    (void)state;
    set_up(&stage);
    struct CallersState *view = &stage.ui.callers;
    struct List *list = &stage.ui.lists[VIEW_CALLERS];
    uint64_t first = MAIN_VIEW.function(&stage.ui);
    Model_filter(&stage.ui.model, "EqualityConstraint.execute");
    Stage_press(&stage, 'c');
    Stage_press(&stage, PRESS_END);
    for (int i = 0; i < 30 && view->depth == 0; i++) {
        Stage_press(&stage, PRESS_ENTER);
        Stage_press(&stage, 'k');
    }
    assert_int_equal(view->depth, 1);
    assert_true(view->tree.root != first);
    assert_string_equal(stage.ui.model.filter, "EqualityConstraint.execute");
    list->selected = 0;
    list->key = 0;
    while (view->tree.branches[list->selected].kind != BRANCH_ROOT)
        Stage_press(&stage, 'j');
    Stage_press(&stage, PRESS_ENTER);
    assert_int_equal(stage.ui.view, VIEW_ANNOTATE);
    assert_true(stage.ui.annotate.id == view->tree.root);
    Stage_release(&stage);
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
