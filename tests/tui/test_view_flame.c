// SPDX-License-Identifier: MIT
// Tests that each box of tui/views/view_flame is inside its caller's box at
// every size, and that the keys have the effect that the help gives.
#include "tests/tui/stage.h"
#include "tui/app/frame.h"
#include "tui/screen/key.h"
#include "tui/views/navigation.h"

#include <string.h>

#include "tests/unit.h"

static void set_up(int width, int height)
{
    Stage_init(width, height);
    Stage_push((struct SampleSpec){.tick = 5});
    Navigation_open(&stage.ui, VIEW_FLAME);
    Stage_deliver((struct SampleSpec){.tick = 5}, NULL);
    Frame_draw(&stage.ui);
}

static const char *selected(void)
{
    const struct FlameState *view = &stage.ui.flame;
    uint32_t at = FlameTree_find(&view->tree, &view->selected);

    assert_int_equal(view->tree.branches[at].depth, view->selected.depth);
    return view->tree.branches[at].name;
}

static const char *zoomed(void)
{
    const struct FlameState *view = &stage.ui.flame;

    return view->tree.branches[FlameTree_find(&view->tree, &view->zoom)].name;
}

TEST(test_moving)
{
    set_up(100, 30);
    assert_string_equal(selected(), "all threads");
    Stage_press(PRESS_DOWN); // selects the largest callee
    assert_string_equal(selected(), "<module>");
    Stage_press('j');
    assert_string_equal(selected(), "Plan.execute");
    Stage_press(PRESS_RIGHT);
    assert_string_not_equal(selected(), "Plan.execute");
    Stage_press(PRESS_LEFT);
    assert_string_equal(selected(), "Plan.execute");
    for (int i = 0; i < 20; i++)
        Stage_press(PRESS_LEFT);
    // The last box stays selected.
    assert_true(strlen(selected()) > 0);
    Stage_press('k');
    Stage_press(PRESS_UP);
    Stage_press(PRESS_UP);
    assert_string_equal(selected(), "all threads");
    Stage_press(PRESS_END);
    assert_int_not_equal(stage.ui.flame.selected.depth, 0);
    Stage_press(PRESS_HOME);
    assert_string_equal(selected(), "all threads");
    assert_int_equal(stage.ui.view, VIEW_FLAME);
}

TEST(test_clicks)
{
    const struct Layout *layout = &stage.ui.layout;

    set_up(100, 30);
    Stage_press(Key_click(50, layout->body_y + 1));
    assert_string_equal(selected(), "<module>");
    // A second click on the selected box zooms in.
    Stage_press(Key_click(50, layout->body_y + 1));
    assert_string_equal(zoomed(), "<module>");
    // A click on the caller zooms out again.
    Stage_press(Key_click(50, layout->body_y));
    assert_string_equal(zoomed(), "all threads");
    // Clicks beside all boxes have no effect.
    Stage_press(Key_click(50, layout->body_y + 15));
    Stage_press(Key_click(99, 29));
    Stage_press(Key_click(99, 0));
    assert_string_equal(selected(), "all threads");
}

// If a match of the search is outside of the zoomed box, the view zooms out,
// but no further than necessary.
TEST(test_search_outside)
{
    set_up(100, 30);
    Stage_type("jj");
    Stage_press(PRESS_ENTER);
    assert_string_equal(zoomed(), "Plan.execute");
    Stage_type("/parse_row");
    Stage_press(PRESS_ENTER);
    assert_string_equal(selected(), "parse_row");
    assert_string_equal(zoomed(), "<module>");
    Stage_expect("parse_row", true);
    Stage_press(PRESS_ENTER);
    // <module> is the caller of the zoomed box.
    Stage_type("/<module>");
    Stage_press(PRESS_ENTER);
    assert_string_equal(selected(), "<module>");
    assert_string_equal(zoomed(), "<module>");
}

// After each letter, the search begins again at the box that was selected
// before the search, and without the zoom of earlier letters.
TEST(test_search_letter_by_letter)
{
    set_up(60, 12);
    Stage_type("j/and_then");
    assert_non_null(strstr(zoomed(), "and_then"));
    Stage_press('#'); // Now nothing matches.
    assert_string_equal(selected(), "<module>");
    assert_string_equal(zoomed(), "all threads");
    Stage_press(PRESS_BACKSPACE);
    assert_non_null(strstr(zoomed(), "and_then"));
}

// If the zoomed function does not run at the moment, the view shows its caller
// instead until the function runs again.
TEST(test_what_is_gone_for_the_moment)
{
    struct FlameTable *less = Sample_stacks((struct SampleSpec){.tick = 6});

    set_up(100, 30);
    Stage_press('j');
    Stage_press('j');
    Stage_press(PRESS_ENTER);
    less->wait_count = 0;
    ((struct FlameRow *)(uintptr_t)less->rows)[1].cpu_ns = 1;
    less->row_count = 2; // Only the root and <module> are left in the stacks.
    FlameState_take(&stage.ui.flame, less);
    Frame_draw(&stage.ui);
    assert_string_equal(zoomed(), "<module>");
    FlameState_take(&stage.ui.flame,
                    Sample_stacks((struct SampleSpec){.tick = 7}));
    Frame_draw(&stage.ui);
    assert_string_equal(zoomed(), "Plan.execute");
}

// Returns the CPU time of all rows since the start as a share of this time.
static double total_of(unsigned tick)
{
    struct FlameTable *table = Sample_stacks((struct SampleSpec){.tick = tick});
    double ns = 0;

    for (size_t i = 0; i < table->row_count; i++)
        ns += (double)table->rows[i].cpu_ns;
    ns /= table->kept_s * 1e9;
    FlameTable_free(table);
    return ns;
}

static void take(unsigned tick)
{
    FlameState_take(&stage.ui.flame,
                    Sample_stacks((struct SampleSpec){.tick = tick}));
    Frame_draw(&stage.ui);
}

TEST(test_windows)
{
    const struct FlameState *view;

    set_up(100, 30); // The sampler has run for 7 s.
    view = &stage.ui.flame;
    Stage_press('w');
    Stage_expect("no other yet", true);
    take(8);
    Stage_expect("over 3 s, 300 samples", true);
    take(30);
    take(33);
    // The longest window has as many seconds as there is data for.
    Stage_expect("over 25 s, 2", true);
    Stage_press('w');
    Stage_expect("over 28 s, 2", true);
    Stage_press('w');
    Stage_expect("500 samples, since the start", true);
    assert_true(fabs(view->tree.branches[0].total - total_of(33)) < 1e-6);
    Stage_press('w');
    // In the flame graph, the screen shows the new window right after the key
    // r.
    Stage_press('r');
    Stage_expect("no other yet", true);
    take(38);
    Stage_expect("over 5 s, 500 samples, since r", true);
    // If r is pressed in another view, the window begins with the next answer.
    Navigation_back(&stage.ui);
    Stage_press('r');
    take(39);
    Navigation_open(&stage.ui, VIEW_FLAME);
    take(44);
    Stage_expect("over 5 s, 500 samples, since r", true);
    Stage_press('w');
    Stage_expect("since", false);
    Stage_press('w');
    Stage_expect("over 5 s, 500 samples", true);
    take(2); // A new trace drops the old history.
    Stage_expect("no other yet", true);
    take(3);
    Stage_expect("over 1 s, 100 samples", true);
}
