// SPDX-License-Identifier: MIT
// The lines of the annotate view as rows of a list: source lines, instructions,
// gaps and notes. Changes nothing of what it draws. One thread.
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
    const struct AnnotateState *state; // borrowed, as the next two
    const struct List *list;           // that shows the rows
    const struct Display *display;     // NULL: only keys are pressed
    struct ListColumn columns[CODE_COLUMNS];
    struct ListRows rows;
};

// Fills the rows and places their columns on a screen of that width. They must
// stay where they are.
void AnnotateRows_fill(struct AnnotateRows *source,
                       const struct AnnotateState *state, struct List *list,
                       const struct Display *display, int width);

#endif
