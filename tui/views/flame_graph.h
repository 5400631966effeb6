// SPDX-License-Identifier: MIT
// Draws the boxes of the flame graph, and the line about the selected one. One
// thread.
#ifndef OCULAR_TUI_VIEWS_FLAME_GRAPH_H
#define OCULAR_TUI_VIEWS_FLAME_GRAPH_H

#include "tui/model/window.h"
#include "tui/screen/canvas.h"
#include "tui/views/flame_boxes.h"

struct FlameGraph {
    struct Canvas *canvas;
    const struct FlameBoxes *boxes;
    const struct Window *window; // that the shares rest on
};

void FlameGraph_draw(const struct FlameGraph *graph);
void FlameGraph_draw_selected(const struct FlameGraph *graph, int y);

#endif
