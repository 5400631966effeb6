// SPDX-License-Identifier: MIT
// The boxes of the flame graph, callers above what they call, as wide as their
// shares, and the line about the selected one. Changes nothing. One thread.
#ifndef OCULAR_TUI_VIEWS_FLAME_GRAPH_H
#define OCULAR_TUI_VIEWS_FLAME_GRAPH_H

#include "tui/model/flame_tree.h"
#include "tui/model/window.h"
#include "tui/screen/canvas.h"

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

// Has a branch at or below the zoom a box? Else it is too narrow.
bool FlameBoxes_shows(const struct FlameBoxes *boxes, uint32_t branch);
// The nearest box to a side (step -1 or 1) of the selected one, in the same
// line, whoever calls it; the selected one if there is none.
uint32_t FlameBoxes_beside(const struct FlameBoxes *boxes, int step);
// The box at a place on the screen; false: there is none.
bool FlameBoxes_at(const struct FlameBoxes *boxes, int x, int y,
                   uint32_t *branch);

struct FlameGraph {
    struct Canvas *canvas;
    const struct FlameBoxes *boxes;
    const struct Window *window; // that the shares rest on
};

void FlameGraph_draw(const struct FlameGraph *graph);
void FlameGraph_draw_selected(const struct FlameGraph *graph, int y);

#endif
