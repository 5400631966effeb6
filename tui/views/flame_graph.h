// SPDX-License-Identifier: MIT
// The boxes of the flame graph, and the line about the selected box. Callers
// are above their callees, and the width of a box is its share. Changes
// nothing. One thread.
#ifndef OCULAR_TUI_VIEWS_FLAME_GRAPH_H
#define OCULAR_TUI_VIEWS_FLAME_GRAPH_H

#include "tui/model/flame_tree.h"
#include "tui/model/window.h"
#include "tui/screen/canvas.h"

#include <stdbool.h>

struct Span { // columns from x up to, not including, `end`; empty: not visible
    int x;
    int end;
};

struct FlameGraph {
    const struct FlameTree *tree;
    const struct Window *window; // window of the shares
    uint32_t zoom;     // branch of the box that is as wide as the body
    uint32_t selected; // branch at or below the zoom
    struct Span body;
    int top;    // depth of the boxes on the first line
    int y;      // the first line
    int height; // number of lines of the graph
};

// Returns true if a branch at or below the zoom has a box. A branch that is too
// narrow has none.
bool FlameGraph_shows(const struct FlameGraph *graph, uint32_t branch);
// Returns the nearest box left (step -1) or right (step 1) of the selected one
// on the same line, even if it has another caller. Returns the selected branch
// if there is none.
uint32_t FlameGraph_beside(const struct FlameGraph *graph, int step);
// Sets *branch to the box at a position on the screen. Returns false if there
// is none.
bool FlameGraph_at(const struct FlameGraph *graph, int x, int y,
                   uint32_t *branch);

void FlameGraph_draw(const struct FlameGraph *graph, struct Canvas *canvas);
// Draws the line about the selected box.
void FlameGraph_draw_selected(const struct FlameGraph *graph,
                              struct Canvas *canvas, int y);

#endif
