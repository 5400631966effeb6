// SPDX-License-Identifier: MIT
// Makes the rows of the annotate view's list. A row is a source line, an
// instruction, a gap or a note.
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
    // State of the view. This pointer is borrowed, and so are all others of the
    // struct.
    const struct AnnotateState *state;
    const struct Snapshot *now; // The newest snapshot.
    const struct List *list;    // The list that shows the rows.
    // NULL while a key is handled, because nothing is drawn then.
    const struct Display *display;
    struct ListColumn columns[CODE_COLUMNS];
    struct ListRows rows;
};

// Fills `rows`, and chooses the columns for a screen of `width` cells. After
// AnnotateRows_fill `source` must not move, because `rows` points to it.
void AnnotateRows_fill(struct AnnotateRows *source,
                       const struct AnnotateState *state,
                       const struct Snapshot *now, struct List *list,
                       const struct Display *display, int width);
