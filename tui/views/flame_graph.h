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

struct FlameGraph {
    const struct FlameTree *tree;
    const struct Window *window; // that the shares rest on
    uint32_t zoom;               // the box that is as wide as the body
    uint32_t selected;           // at or below the zoom
    struct Span body;
    int top;    // depth of the boxes in the first line
    int y;      // of the first line
    int height; // lines
};

// Has a branch at or below the zoom a box? Else it is too narrow.
bool FlameGraph_shows(const struct FlameGraph *graph, uint32_t branch);
// The nearest box to a side (step -1 or 1) of the selected one, in the same
// line, whoever calls it; the selected one if there is none.
uint32_t FlameGraph_beside(const struct FlameGraph *graph, int step);
// The box at a place on the screen; false: there is none.
bool FlameGraph_at(const struct FlameGraph *graph, int x, int y,
                   uint32_t *branch);

void FlameGraph_draw(const struct FlameGraph *graph, struct Canvas *canvas);
// Draws the line about the selected box.
void FlameGraph_draw_selected(const struct FlameGraph *graph,
                              struct Canvas *canvas, int y);

#endif
