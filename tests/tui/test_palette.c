// SPDX-License-Identifier: MIT
// Tests that every colour is readable on a white terminal, on a black terminal,
// and on the viewer's own bars. Without colours, a selected row still looks
// different from other rows.
#include "tui/screen/canvas.h"
#include "tui/screen/palette.h"

#include <math.h>

#include "tests/unit.h"

// Returns the luminance of one of xterm's 256 colours. The first eight are
// xterm's defaults. From 16 on, there is a cube of colours, and then greys.
static double luminance(int colour)
{
    static const double first[8][3] = {
        {0, 0, 0},   {205, 0, 0},   {0, 205, 0},   {205, 205, 0},
        {0, 0, 238}, {205, 0, 205}, {0, 205, 205}, {229, 229, 229}};
    static const double steps[] = {0, 95, 135, 175, 215, 255};
    static const double weights[] = {.2126, .7152, .0722};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double value = 8 + 10. * (colour - 232);
        if (colour < 8)
            value = first[colour][i];
        else if (colour < 232)
            value = steps[(colour - 16) / (i == 0 ? 36 : i == 1 ? 6 : 1) % 6];
        value /= 255;
        sum +=
            weights[i] * (value <= .03928 ? value / 12.92
                                          : pow((value + .055) / 1.055, 2.4));
    }
    return sum;
}

static double contrast(double a, double b)
{
    return (fmax(a, b) + .05) / (fmin(a, b) + .05);
}

// Checks the contrast of a paint on its own background. If the paint has no
// background of its own, checks the contrast on a black and on a white
// terminal. The terminal determines colours with numbers below `own`.
static void check_contrast(struct Paint paint, int own, double on_white)
{
    if (paint.foreground < own)
        return;
    double front = luminance(paint.foreground);
    if (paint.background >= own) {
        assert_true(contrast(front, luminance(paint.background)) > 3);
        return;
    }
    assert_true(contrast(front, 0) > 2.5);
    assert_true(contrast(front, 1) > on_white);
}

TEST(test_contrast)
{
    for (int i = 0; i < STYLE_COUNT; i++) {
        uint8_t style = (uint8_t)i, selected = style | STYLE_SELECTED;
        check_contrast(Palette_paint(style, 256), 16, 2.3);
        check_contrast(Palette_paint(selected, 256), 16, 2.3);
        // Green has the lowest contrast.
        check_contrast(Palette_paint(style, 16), 0, 2.1);
        check_contrast(Palette_paint(selected, 16), 0, 2.1);
    }
}

static bool same(struct Paint a, struct Paint b)
{
    return a.foreground == b.foreground && a.background == b.background &&
           a.attributes == b.attributes;
}

TEST(test_selected_differs)
{
    static const int colours[] = {0, 8, 16, 256};
    for (int c = 0; c < 4; c++)
        for (int i = 0; i <= STYLE_ALERT; i++) {
            struct Paint plain = Palette_paint((uint8_t)i, colours[c]);
            struct Paint selected =
                Palette_paint((uint8_t)(i | STYLE_SELECTED), colours[c]);
            assert_false(same(plain, selected));
            assert_true(colours[c] || plain.foreground == -1);
        }
}
