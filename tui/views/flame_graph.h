// SPDX-License-Identifier: MIT
// Draws the boxes of the flame graph, and a line about the selected box.
// Callers are above their callees, and the width of a box stands for its share.
#pragma once

#include "tui/model/flame_tree.h"
#include "tui/model/window.h"
#include "tui/screen/canvas.h"

#include <stdbool.h>

// A range of screen columns, from `x` to the column before `end`. An empty
// range is not visible.
struct Span {
    int x;
    int end;
};

struct FlameGraph {
    const struct FlameTree *tree;
    // The stretch of time in which the shares were measured.
    struct Window window;
    uint32_t zoom; // The zoomed branch, whose box is as wide as `body`.
    // The selected branch, which is the zoomed branch or below it.
    uint32_t selected;
    struct Span body;
    int top;    // Level in the tree of the boxes on the first line.
    int y;      // Screen line of the graph's first line.
    int height; // Number of lines of the graph.
};

// `branch` must be the zoomed branch or a branch below it. Returns true if
// `branch` has a box. A branch that would be too narrow has no box.
bool FlameGraph_shows(const struct FlameGraph *graph, uint32_t branch);
// Returns the nearest box to the left (step -1) or to the right (step 1) on the
// line of the selected box. The returned box may have another caller than the
// selected box. Returns the selected branch if there is no such box.
uint32_t FlameGraph_beside(const struct FlameGraph *graph, int step);
// Finds the box at a position on the screen, and sets *branch to its branch.
// Returns false if there is no box at this position.
bool FlameGraph_at(const struct FlameGraph *graph, int x, int y,
                   uint32_t *branch);

void FlameGraph_draw(const struct FlameGraph *graph, struct Canvas *canvas);
// Draws the name, the shares and the file of the selected box on line `y`.
void FlameGraph_draw_selected(const struct FlameGraph *graph,
                              struct Canvas *canvas, int y);
