// SPDX-License-Identifier: MIT
// Makes rows of a list from the data of the annotate view. The rows are source
// lines, instructions, gaps and notes.
#pragma once

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
    // The state of the view, borrowed, like the other pointers.
    const struct AnnotateState *state;
    const struct Snapshot *now; // The newest snapshot.
    const struct List *list;    // The list that shows the rows.
    // NULL while a key is handled, since nothing is drawn then
    const struct Display *display;
    struct ListColumn columns[CODE_COLUMNS];
    struct ListRows rows;
};

// Fills `rows` and places the columns on a screen of `width` cells. After this
// call `source` must not move, because `rows` points to it.
void AnnotateRows_fill(struct AnnotateRows *source,
                       const struct AnnotateState *state,
                       const struct Snapshot *now, struct List *list,
                       const struct Display *display, int width);
