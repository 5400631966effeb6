// SPDX-License-Identifier: MIT
// The geometry of the screen as a pure function of its size: which lines there
// are, which columns fit and how wide they are. Any thread, no state.
#ifndef OCULAR_TUI_SCREEN_LAYOUT_H
#define OCULAR_TUI_SCREEN_LAYOUT_H

#include "tui/model/column.h"

#include <stdbool.h>

#define LAYOUT_MIN_WIDTH 60
#define LAYOUT_MIN_HEIGHT 12
#define LAYOUT_HEADER 3 // lines

struct LayoutColumn {
    enum ColumnId id;
    int x;
    int width;
};

struct Layout {
    int width;
    int height;
    bool too_small; // nothing below is set
    int title_y;    // what a view says of itself; -1 on the main screen
    int table_y;    // the bar of column titles
    int body_y;
    int body_height;
    int detail_y; // the selected function's lines, or -1
    int detail_height;
    int footer_y; // keys, messages and prompts, or -1
    struct LayoutColumn columns[COLUMN_COUNT];
    int column_count;
};

struct LayoutWish {
    bool sampled; // there are shares to show
    bool bare;    // batch: nothing to select, no keys
};

// The main screen.
void Layout_make(struct Layout *layout, int width, int height,
                 struct LayoutWish wish);
// Any other view: the process's line, its own line (title_y), the bar of its
// column titles, its body, the bottom line. No columns.
void Layout_view(struct Layout *layout, int width, int height);

#endif
