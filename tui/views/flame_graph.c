// SPDX-License-Identifier: MIT
// See flame_graph.h.
#include "tui/views/flame_graph.h"

#include "tui/screen/gauge.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"

#define LEAST_CUT 4 // cells; a narrower name has no room for an ellipsis

static void draw_box(const struct FlameGraph *graph, uint32_t branch,
                     struct Span span)
{
    const struct FlameBranch *at = &graph->boxes->tree->branches[branch];
    struct Canvas *canvas = graph->canvas;
    const struct Window *window = graph->window;
    char share[NUMBER_MAX];
    enum Basis basis = Window_share(share, window, at->total);
    int y = FlameBoxes_line(graph->boxes, at->depth),
        width = span.end - span.x - 1;
    bool above =
        branch != graph->boxes->zoom &&
        FlameTree_is_below(graph->boxes->tree, graph->boxes->zoom, branch);
    bool faint = above || basis < BASIS_FINE;
    uint8_t style = faint ? STYLE_FAINT : (uint8_t)Gauge_heat(at->total);
    if (y < 0 || width < 0)
        return;
    Canvas_put(canvas, y, span.x, span.end, STYLE_FAINT, "│");
    struct Box box = {y, span.x + 1, width};
    int name = Canvas_measure(canvas, at->name);
    int number = Canvas_measure(canvas, share);
    if (width < LEAST_CUT)
        Canvas_put(canvas, y, box.x, box.x + width, style, at->name);
    else
        Canvas_fit(canvas, box, style, CUT_END, at->name);
    if (name + 1 + number < width)
        Canvas_put(canvas, y, box.x + name + 1, span.end, STYLE_FAINT, share);
    if (branch == graph->boxes->selected)
        Canvas_select(canvas, (struct Box){y, span.x, width + 1});
}

static void draw_below(const struct FlameGraph *graph, uint32_t branch,
                       struct Span span);

static void draw_children(const struct FlameGraph *graph, uint32_t branch,
                          struct Span span)
{
    const struct FlameTree *tree = graph->boxes->tree;
    struct Canvas *canvas = graph->canvas;
    int y = FlameBoxes_line(graph->boxes, tree->branches[branch].depth + 1);
    struct Shelf shelf = Shelf_below(tree, branch, span);
    for (uint32_t i = tree->branches[branch].child; i;
         i = tree->branches[i].sibling) {
        struct Span child = Shelf_place(&shelf, i);
        if (child.end > child.x)
            draw_below(graph, i, child);
    }
    int end = span.x + (int)(shelf.used + 0.5);
    int narrow = span.x + (int)(shelf.used + shelf.hidden * shelf.scale + 0.5);
    if (y < 0)
        return;
    for (int x = end; x < narrow; x++) // children too narrow for a box
        Canvas_put(canvas, y, x, x + 1, STYLE_FAINT, "·");
    if (shelf.used > 0 || narrow > end)
        Canvas_put(canvas, y, narrow, span.end, STYLE_FAINT, "│");
}

static void draw_below(const struct FlameGraph *graph, uint32_t branch,
                       struct Span span)
{
    int depth = graph->boxes->tree->branches[branch].depth;
    draw_box(graph, branch, span);
    if (depth + 1 < graph->boxes->top + graph->boxes->height)
        draw_children(graph, branch, span);
}

void FlameGraph_draw(const struct FlameGraph *graph)
{
    uint32_t path[FLAME_DEPTH + 1];
    int count = 0;
    for (uint32_t i = graph->boxes->zoom; i;
         i = graph->boxes->tree->branches[i].parent)
        path[count++] = i;
    if (graph->boxes->zoom)
        draw_box(graph, 0, graph->boxes->body);
    while (count > 1) // callers of the zoom, as wide as the zoom
        draw_box(graph, path[--count], graph->boxes->body);
    draw_below(graph, graph->boxes->zoom, graph->boxes->body);
}

void FlameGraph_draw_selected(const struct FlameGraph *graph, int y)
{
    const struct FlameBranch *at =
        &graph->boxes->tree->branches[graph->boxes->selected];
    const struct Window *window = graph->window;
    char text[NUMBER_MAX];
    struct Strip strip;
    Strip_init(&strip);
    Strip_item(&strip, 0);
    Strip_add(&strip, STYLE_ACCENT, "%.200s", at->name);
    Strip_flex(&strip, 12);
    Strip_item(&strip, 1);
    Window_share(text, window, at->total);
    Strip_add(&strip, STYLE_STRONG, "%s", text);
    if (Window_share(text, window, at->self)) {
        Strip_item(&strip, 3);
        Strip_add(&strip, STYLE_PLAIN, "%s", text);
        Strip_add(&strip, STYLE_FAINT,
                  graph->boxes->selected ? " itself"
                                         : " in what is not traced");
    }
    if (Window_share(text, window, at->in_c)) {
        Strip_item(&strip, 4);
        Strip_add(&strip, STYLE_PLAIN, "%s", text);
        Strip_add(&strip, STYLE_FAINT, " in C");
    }
    if (at->depth) {
        double above = graph->boxes->tree->branches[at->parent].total;
        Strip_item(&strip, 5);
        Strip_add(&strip, STYLE_PLAIN, "%s",
                  Window_plain_share(text, at->total / above));
        Strip_add(&strip, STYLE_FAINT, " of its caller");
    }
    if (at->file) {
        Strip_item(&strip, 6);
        Strip_right(&strip);
        Strip_add(&strip, STYLE_FAINT, "%.300s:%llu", at->file,
                  (unsigned long long)at->line);
        Strip_flex(&strip, 12);
    }
    Strip_draw(&strip, graph->canvas,
               (struct Box){y, 1, graph->canvas->width - 2}, 3);
}
