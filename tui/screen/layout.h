// SPDX-License-Identifier: MIT
// Computes where the lines of the screen are, from the screen's size. The
// functions are pure, and any thread may call them.
#pragma once

#include "tui/screen/canvas.h"

#include <stdbool.h>

#define LAYOUT_MIN_WIDTH 60
#define LAYOUT_MIN_HEIGHT 12
#define LAYOUT_HEADER 3 // Lines of the main screen's header.

struct Layout {
    int width;
    int height;
    // True if the screen is too small. If the screen is too small, the members
    // below are not set.
    bool too_small;
    int title_y; // Line of the view's title, or -1 on the main screen.
    int table_y; // Line of the column titles.
    int body_y;
    int body_height;
    // First line with facts about the selected function (-1 = none).
    int detail_y;
    int detail_height;
    int footer_y; // Line of keys, messages and prompts (-1 = none).
};

// Lays out the main screen. If `bare` is true, the screen has no selection and
// no keys.
void Layout_main(struct Layout *layout, int width, int height, bool bare);
// Lays out any other view. The other views have the process's line, the view's
// own line (title_y), the column titles, the body and the bottom line.
void Layout_view(struct Layout *layout, int width, int height);
// Draws a notice that the terminal is too small.
void Layout_draw_too_small(struct Canvas *canvas);
