// SPDX-License-Identifier: MIT
// Tests tui/views/view_flame: each box is inside its caller's box at every
// size, and the keys have the effect that the help gives.
#include "tests/tui/stage.h"
#include "tui/app/frame.h"
#include "tui/screen/key.h"
#include "tui/views/navigation.h"

#include <string.h>

#include "tests/unit.h"

static void set_up(struct Stage *stage, int width, int height)
{
    Stage_init(stage, width, height);
    Stage_push(stage, (struct SampleSpec){.tick = 5});
    Navigation_open(&stage->ui, VIEW_FLAME);
    Stage_deliver(stage, (struct SampleSpec){.tick = 5}, NULL);
    Frame_draw(&stage->ui);
}

static const char *selected(const struct Stage *stage)
{
    const struct FlameState *view = &stage->ui.flame;
    bool whole;
    uint32_t at = FlameTree_find(&view->tree, &view->selected, &whole);

    assert_true(whole);
    return view->tree.branches[at].name;
}

static const char *zoomed(const struct Stage *stage)
{
    const struct FlameState *view = &stage->ui.flame;
    bool whole;

    return view->tree.branches[FlameTree_find(&view->tree, &view->zoom, &whole)]
        .name;
}

TEST(test_moving)
{
    struct Stage stage;

    set_up(&stage, 100, 30);
    assert_string_equal(selected(&stage), "all threads");
    Stage_press(&stage, PRESS_DOWN); // selects the hottest callee
    assert_string_equal(selected(&stage), "<module>");
    Stage_press(&stage, 'j');
    assert_string_equal(selected(&stage), "Plan.execute");
    Stage_press(&stage, PRESS_RIGHT);
    assert_string_not_equal(selected(&stage), "Plan.execute");
    Stage_press(&stage, PRESS_LEFT);
    assert_string_equal(selected(&stage), "Plan.execute");
    for (int i = 0; i < 20; i++)
        Stage_press(&stage, PRESS_LEFT);
    // The selection stays at the last box.
    assert_true(strlen(selected(&stage)) > 0);
    Stage_press(&stage, 'k');
    Stage_press(&stage, PRESS_UP);
    Stage_press(&stage, PRESS_UP);
    assert_string_equal(selected(&stage), "all threads");
    Stage_press(&stage, PRESS_END);
    assert_int_not_equal(stage.ui.flame.selected.depth, 0);
    Stage_press(&stage, PRESS_HOME);
    assert_string_equal(selected(&stage), "all threads");
    assert_int_equal(stage.ui.view, VIEW_FLAME);
    Stage_release(&stage);
}

TEST(test_clicks)
{
    struct Stage stage;
    const struct Layout *layout = &stage.ui.layout;

    set_up(&stage, 100, 30);
    Stage_press(&stage, Key_click(50, layout->body_y + 1));
    assert_string_equal(selected(&stage), "<module>");
    // The second click on the box zooms in.
    Stage_press(&stage, Key_click(50, layout->body_y + 1));
    assert_string_equal(zoomed(&stage), "<module>");
    // A click on the caller zooms out again.
    Stage_press(&stage, Key_click(50, layout->body_y));
    assert_string_equal(zoomed(&stage), "all threads");
    // There is no box at this point.
    Stage_press(&stage, Key_click(50, layout->body_y + 15));
    Stage_press(&stage, Key_click(99, 29));
    Stage_press(&stage, Key_click(99, 0));
    assert_string_equal(selected(&stage), "all threads");
    Stage_release(&stage);
}

// If a match of the search is outside of the zoomed box, the view zooms out,
// but no further than necessary.
TEST(test_search_outside)
{
    struct Stage stage;

    set_up(&stage, 100, 30);
    Stage_type(&stage, "jj");
    Stage_press(&stage, PRESS_ENTER);
    assert_string_equal(zoomed(&stage), "Plan.execute");
    Stage_type(&stage, "/parse_row");
    Stage_press(&stage, PRESS_ENTER);
    assert_string_equal(selected(&stage), "parse_row");
    assert_string_equal(zoomed(&stage), "<module>");
    Stage_expect(&stage, "parse_row", true);
    Stage_press(&stage, PRESS_ENTER);
    // this searches for the caller of the zoomed box
    Stage_type(&stage, "/<module>");
    Stage_press(&stage, PRESS_ENTER);
    assert_string_equal(selected(&stage), "<module>");
    assert_string_equal(zoomed(&stage), "<module>");
    Stage_release(&stage);
}

// Each letter searches from the box at which the search began, and undoes the
// zoom that earlier letters caused.
TEST(test_search_letter_by_letter)
{
    struct Stage stage;

    set_up(&stage, 60, 12);
    Stage_type(&stage, "j/and_then");
    assert_non_null(strstr(zoomed(&stage), "and_then"));
    Stage_press(&stage, '#'); // This text matches no name.
    assert_string_equal(selected(&stage), "<module>");
    assert_string_equal(zoomed(&stage), "all threads");
    Stage_press(&stage, PRESS_BACKSPACE);
    assert_non_null(strstr(zoomed(&stage), "and_then"));
    Stage_release(&stage);
}

// If the zoomed function does not run at the moment, the view shows its caller
// instead until the function runs again.
TEST(test_what_is_gone_for_the_moment)
{
    struct Stage stage;
    struct FlameTable *less = Sample_stacks((struct SampleSpec){.tick = 6});

    set_up(&stage, 100, 30);
    Stage_press(&stage, 'j');
    Stage_press(&stage, 'j');
    Stage_press(&stage, PRESS_ENTER);
    less->wait_count = 0;
    ((struct FlameRow *)(uintptr_t)less->rows)[1].cpu_ns = 1;
    less->row_count = 2; // Only the root and <module> are left in the stacks.
    FlameState_take(&stage.ui.flame, less);
    Frame_draw(&stage.ui);
    assert_string_equal(zoomed(&stage), "<module>");
    FlameState_take(&stage.ui.flame,
                    Sample_stacks((struct SampleSpec){.tick = 7}));
    Frame_draw(&stage.ui);
    assert_string_equal(zoomed(&stage), "Plan.execute");
    Stage_release(&stage);
}

// Returns the CPU time of all rows since the start, divided by the length of
// this time.
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

static void take(struct Stage *stage, unsigned tick)
{
    FlameState_take(&stage->ui.flame,
                    Sample_stacks((struct SampleSpec){.tick = tick}));
    Frame_draw(&stage->ui);
}

TEST(test_windows)
{
    const struct FlameState *view;
    struct Stage stage;

    set_up(&stage, 100, 30); // The sampler has run for 7 s.
    view = &stage.ui.flame;
    Stage_press(&stage, 'w');
    Stage_expect(&stage, "no other yet", true);
    take(&stage, 8);
    Stage_expect(&stage, "over 3 s, 300 samples", true);
    take(&stage, 30);
    take(&stage, 33);
    // The last window is the longest one for which there is data.
    Stage_expect(&stage, "over 25 s, 2", true);
    Stage_press(&stage, 'w');
    Stage_expect(&stage, "over 28 s, 2", true);
    Stage_press(&stage, 'w');
    Stage_expect(&stage, "500 samples, since the start", true);
    assert_true(fabs(view->tree.branches[0].total - total_of(33)) < 1e-6);
    Stage_press(&stage, 'w');
    // In the flame graph, the screen shows the new window right after the key
    // r.
    Stage_press(&stage, 'r');
    Stage_expect(&stage, "no other yet", true);
    take(&stage, 38);
    Stage_expect(&stage, "over 5 s, 500 samples, since r", true);
    // In other views, the new window begins with the next answer.
    Navigation_back(&stage.ui);
    Stage_press(&stage, 'r');
    take(&stage, 39);
    Navigation_open(&stage.ui, VIEW_FLAME);
    take(&stage, 44);
    Stage_expect(&stage, "over 5 s, 500 samples, since r", true);
    Stage_press(&stage, 'w');
    Stage_expect(&stage, "since", false);
    Stage_press(&stage, 'w');
    Stage_expect(&stage, "over 5 s, 500 samples", true);
    take(&stage, 2); // A new trace drops the old history.
    Stage_expect(&stage, "no other yet", true);
    take(&stage, 3);
    Stage_expect(&stage, "over 1 s, 100 samples", true);
    Stage_release(&stage);
}
