// SPDX-License-Identifier: MIT
// The geometry of the screen as a pure function of its size: which lines there
// are, which columns fit and how wide they are. Any thread, no state.
#ifndef OCULAR_TUI_SCREEN_LAYOUT_H
#define OCULAR_TUI_SCREEN_LAYOUT_H

#include <stdbool.h>

#define LAYOUT_MIN_WIDTH 60
#define LAYOUT_MIN_HEIGHT 12
#define LAYOUT_HEADER 3 // lines
#define LAYOUT_COLUMNS 32

struct LayoutColumn {
    int id; // index in LayoutWish.columns
    int x;
    int width;
};

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
    struct LayoutColumn columns[LAYOUT_COLUMNS];
    int column_count;
};

struct LayoutSpace { // that a column needs
    int width;       // cells; 0: the column is not there
    int importance;  // 0 = never drops; the largest drops first; none twice
    int room;        // cells that it must leave to the texts
};

struct LayoutWish {
    bool bare;                         // no selection and no keys
    const struct LayoutSpace *columns; // at most LAYOUT_COLUMNS
    int column_count;
    int first; // the column that is there however narrow it is
    int name;  // the column that takes what the others leave
    int place; // the column that shares that with it, where there is room
};

// The main screen.
void Layout_make(struct Layout *layout, int width, int height,
                 struct LayoutWish wish);
// Any other view: the process's line, its own line (title_y), the bar of its
// column titles, its body, the bottom line. No columns.
void Layout_view(struct Layout *layout, int width, int height);

#endif
