// SPDX-License-Identifier: MIT
// Gives a list the rows of the annotate view, which are source lines,
// instructions, gaps and notes. The data that is drawn does not change. Only
// one thread calls AnnotateRows_fill.
#ifndef OCULAR_TUI_VIEWS_ANNOTATE_ROWS_H
#define OCULAR_TUI_VIEWS_ANNOTATE_ROWS_H

#include "tui/model/annotate_state.h"
#include "tui/screen/list.h"
#include "tui/views/display.h"

enum CodeColumn {
    CODE_LINE,
    CODE_OFFSET,
    CODE_TEXT,
    CODE_LIVE,
    CODE_HITS,
    CODE_TIME,
    CODE_CYCLES,
    CODE_COLUMNS
};

struct AnnotateRows {
    // state of the view; borrowed, like `list` and `display`
    const struct AnnotateState *state;
    const struct List *list; // the list that shows the rows
    // NULL while a key is handled, since nothing is drawn then
    const struct Display *display;
    struct ListColumn columns[CODE_COLUMNS];
    struct ListRows rows;
};

// Fills `rows` and places the columns on a screen of `width` cells. After this
// call `source` must not move, because `rows` points to it.
void AnnotateRows_fill(struct AnnotateRows *source,
                       const struct AnnotateState *state, struct List *list,
                       const struct Display *display, int width);

#endif
