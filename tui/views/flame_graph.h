// SPDX-License-Identifier: MIT
// Draws the boxes of the flame graph, and the line about the selected box.
// Callers are above their callees, and the width of a box is its share.
#pragma once

#include "tui/model/flame_tree.h"
#include "tui/model/window.h"
#include "tui/screen/canvas.h"

#include <stdbool.h>

// Screen columns from `x` up to, but not including, `end`. An empty span is not
// visible.
struct Span {
    int x;
    int end;
};

struct FlameGraph {
    const struct FlameTree *tree;
    struct Window window; // The stretch of time of the shares.
    uint32_t zoom;        // The branch whose box is as wide as the body.
    uint32_t selected;    // The selected branch, at or below the zoom.
    struct Span body;
    int top;    // Level in the tree of the boxes on the first line.
    int y;      // Screen line of the graph's first line.
    int height; // Number of lines of the graph.
};

// `branch` is the zoom or a branch below the zoom. Returns true if `branch` has
// a box. A branch that is too narrow has no box.
bool FlameGraph_shows(const struct FlameGraph *graph, uint32_t branch);
// Returns the nearest box to the left (step -1) or to the right (step 1) on the
// line of the selected box. This box may have another caller than the selected
// box. Returns the selected branch if there is no such box.
uint32_t FlameGraph_beside(const struct FlameGraph *graph, int step);
// Sets *branch to the branch whose box is at a position on the screen. Returns
// false if there is no box at this position.
bool FlameGraph_at(const struct FlameGraph *graph, int x, int y,
                   uint32_t *branch);

void FlameGraph_draw(const struct FlameGraph *graph, struct Canvas *canvas);
// Draws the name, the shares and the file of the selected box on line `y`.
void FlameGraph_draw_selected(const struct FlameGraph *graph,
                              struct Canvas *canvas, int y);
