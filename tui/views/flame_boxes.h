// SPDX-License-Identifier: MIT
// Where the boxes of the flame graph are: callers above what they call, as wide
// as their shares. Draws nothing. One thread.
#ifndef OCULAR_TUI_VIEWS_FLAME_BOXES_H
#define OCULAR_TUI_VIEWS_FLAME_BOXES_H

#include "tui/model/flame_tree.h"

#include <stdbool.h>

struct Span { // columns from x to before `end`; empty: not on the screen
    int x;
    int end;
};

struct FlameBoxes {
    const struct FlameTree *tree;
    uint32_t zoom;     // the box that is as wide as the body
    uint32_t selected; // at or below the zoom
    struct Span body;
    int top;    // depth of the boxes in the first line
    int y;      // of the first line
    int height; // lines
};

// The children of a branch side by side, by their totals. Those that would not
// have a column of their own stand together at the end.
struct Shelf {
    const struct FlameTree *tree;
    struct Span span; // of the caller
    double scale;     // columns a share
    double used;      // columns taken
    double hidden;    // shares without a column
};

struct Shelf Shelf_below(const struct FlameTree *tree, uint32_t branch,
                         struct Span span);
// The next child's columns; called for all children in their order.
struct Span Shelf_place(struct Shelf *shelf, uint32_t child);

// The line of the boxes of that depth, -1: it is not on the screen.
int FlameBoxes_line(const struct FlameBoxes *boxes, int depth);
// Has a branch at or below the zoom a box? Else it is too narrow.
bool FlameBoxes_shows(const struct FlameBoxes *boxes, uint32_t branch);
// The nearest box to a side (step -1 or 1) of the selected one, in the same
// line, whoever calls it; the selected one if there is none.
uint32_t FlameBoxes_beside(const struct FlameBoxes *boxes, int step);
// The box at a place on the screen; false: there is none.
bool FlameBoxes_at(const struct FlameBoxes *boxes, int x, int y,
                   uint32_t *branch);

#endif
