// SPDX-License-Identifier: MIT
// Tests that the canvas clips at its edges, and that it never draws half of a
// wide glyph.
#include "tui/screen/canvas.h"

#include "tests/unit.h"

#include "tests/tui/picture.h"

#define WIDE "\xe6\x95\xb0" // a glyph that is two cells wide

static struct Canvas canvas;

static void prepare(void)
{
    Canvas_init(&canvas, false);
    assert_int_equal(Canvas_resize(&canvas, 10, 2), 0);
}

static void finish(void)
{
    Canvas_release(&canvas);
}

static void shows(const char *text)
{
    assert_string_equal(picture_of(&canvas), text);
}

TEST_WITH(test_put_and_clip, prepare, finish)
{
    assert_int_equal(Canvas_put(&canvas, 0, 1, 10, STYLE_STRONG, "abc"), 4);
    assert_int_equal(Canvas_cell(&canvas, 0, 1)->style, STYLE_STRONG);
    Canvas_put(&canvas, 1, 8, 100, STYLE_PLAIN, "wxyz");
    Canvas_put(&canvas, 1, -2, 100, STYLE_PLAIN, "abc");
    Canvas_put(&canvas, 7, 0, 10, STYLE_PLAIN, "nowhere");
    Canvas_put(&canvas, -1, 0, 10, STYLE_PLAIN, "nowhere");
    shows(" abc\nc       wx\n");
}

TEST_WITH(test_wide_glyphs_stay_whole, prepare, finish)
{
    assert_int_equal(Canvas_put(&canvas, 0, 0, 3, STYLE_PLAIN, WIDE WIDE), 2);
    // The right half of the glyph would be outside of the canvas.
    Canvas_put(&canvas, 0, 9, 99, STYLE_PLAIN, WIDE);
    shows(WIDE "\n\n");
    // This text replaces the right half of the glyph.
    Canvas_put(&canvas, 0, 1, 10, STYLE_PLAIN, "x");
    shows(" x\n\n");
    Canvas_put(&canvas, 0, 1, 10, STYLE_PLAIN, WIDE);
    // This text replaces the left half of the glyph.
    Canvas_put(&canvas, 0, 1, 10, STYLE_PLAIN, "y");
    shows(" y\n\n");
    assert_int_equal(Canvas_cell(&canvas, 0, 2)->width, 1);
}

TEST_WITH(test_fit, prepare, finish)
{
    struct Box box = {0, 1, 5}, second = {1, 0, 5};
    Canvas_fit(&canvas, box, STYLE_PLAIN, CUT_END, "abcdefgh");
    Canvas_fit(&canvas, second, STYLE_PLAIN, CUT_START, "abcdefgh");
    shows(" abcd…\n…efgh\n");
    Canvas_clear(&canvas);
    Canvas_fit_right(&canvas, box, STYLE_PLAIN, "ab");
    Canvas_fit_right(&canvas, second, STYLE_PLAIN, "abcdef");
    shows("    ab\nabcd…\n");
    Canvas_clear(&canvas);
    // If a wide glyph would lose one half, a blank replaces the other half.
    Canvas_fit(&canvas, box, STYLE_PLAIN, CUT_END, "abc" WIDE WIDE);
    Canvas_fit(&canvas, second, STYLE_PLAIN, CUT_START, WIDE WIDE "abc");
    shows(" abc…\n…abc\n");
    Canvas_fit(&canvas, (struct Box){0, 3, 0}, STYLE_PLAIN, CUT_END, "zzz");
    Canvas_fit(&canvas, (struct Box){0, 3, -4}, STYLE_PLAIN, CUT_START, "zzz");
    shows(" abc…\n…abc\n");
}

TEST_WITH(test_styles, prepare, finish)
{
    Canvas_put(&canvas, 0, 0, 10, STYLE_ARMED, "ab");
    Canvas_select(&canvas, (struct Box){0, 1, 99});
    assert_int_equal(Canvas_cell(&canvas, 0, 0)->style, STYLE_ARMED);
    assert_int_equal(Canvas_cell(&canvas, 0, 1)->style,
                     STYLE_ARMED | STYLE_SELECTED);
    Canvas_paint(&canvas, (struct Box){0, -3, 99}, STYLE_HEAD);
    assert_int_equal(Canvas_cell(&canvas, 0, 9)->style, STYLE_HEAD);
    assert_null(Canvas_cell(&canvas, 0, 10));
    assert_null(Canvas_cell(&canvas, 2, 0));
}
