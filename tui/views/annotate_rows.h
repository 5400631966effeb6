// SPDX-License-Identifier: MIT
// The lines of the annotate view as rows of a list: source lines, instructions,
// gaps and notes. Does not change the data that it draws. One thread.
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
    // NULL: a key is handled and nothing is drawn
    const struct Display *display;
    struct ListColumn columns[CODE_COLUMNS];
    struct ListRows rows;
};

// Fills `rows` and places the columns on a screen of `width` cells. `source`
// must not be moved afterwards, because `rows` points to it.
void AnnotateRows_fill(struct AnnotateRows *source,
                       const struct AnnotateState *state, struct List *list,
                       const struct Display *display, int width);

#endif
