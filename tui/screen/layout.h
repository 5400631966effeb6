// SPDX-License-Identifier: MIT
// The geometry of the screen as a pure function of its size: which lines there
// are. Any thread, no state.
#ifndef OCULAR_TUI_SCREEN_LAYOUT_H
#define OCULAR_TUI_SCREEN_LAYOUT_H

#include "tui/screen/canvas.h"

#include <stdbool.h>

#define LAYOUT_MIN_WIDTH 60
#define LAYOUT_MIN_HEIGHT 12
#define LAYOUT_HEADER 3 // lines

struct Layout {
    int width;
    int height;
    bool too_small; // nothing below is set
    int title_y;    // the view's own line; -1 on the main screen
    int table_y;    // the bar of column titles
    int body_y;
    int body_height;
    int detail_y; // the selected function's lines; -1: there are none
    int detail_height;
    int footer_y; // keys, messages and prompts; -1: there is none
};

// The main screen; `bare`: without selection and keys.
void Layout_main(struct Layout *layout, int width, int height, bool bare);
// Any other view: the process's line, its own line (title_y), the bar of its
// column titles, its body, the bottom line.
void Layout_view(struct Layout *layout, int width, int height);
// The notice in place of everything, if the terminal is too small.
void Layout_draw_too_small(struct Canvas *canvas);

#endif
