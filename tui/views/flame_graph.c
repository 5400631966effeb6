// SPDX-License-Identifier: MIT
#include "tui/views/flame_graph.h"

#include "tui/screen/gauge.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/views/time_bar.h"

// If a box has fewer cells, the name in it is cut without an ellipsis.
#define LEAST_CUT 4

// --- Where the boxes are

// struct Shelf places the boxes of all children of a branch side by side. The
// width of a box is proportional to the child's total share. A child gets no
// box if this box would be narrower than one column.
struct Shelf {
    const struct FlameTree *tree;
    struct Span span; // Columns of the screen that the caller's box takes.
    double scale;     // Number of columns for a share of 1.
    double used;      // Number of columns that all boxes so far take.
    // Sum of the shares of all children without a box.
    double hidden;
};

static struct Shelf shelf_below(const struct FlameTree *tree, uint32_t branch,
                                struct Span span)
{
    double total = tree->branches[branch].total;
    return (struct Shelf){
        .tree = tree,
        .span = span,
        .scale = total > 0 ? (span.end - span.x) / total : 0,
    };
}

// Returns the columns of the screen that the box of the next child takes. Must
// be called for all children of a branch, in their order.
static struct Span place_on(struct Shelf *shelf, uint32_t child)
{
    double width = shelf->tree->branches[child].total * shelf->scale;
    struct Span span;
    if (width < 1) {
        shelf->hidden += shelf->tree->branches[child].total;
        return (struct Span){shelf->span.x, shelf->span.x};
    }
    span.x = shelf->span.x + (int)(shelf->used + 0.5);
    shelf->used += width;
    span.end = shelf->span.x + (int)(shelf->used + 0.5);
    return span;
}

// Returns the columns of the screen that the box of a branch takes. The box of
// the branch `zoom` is as wide as `body`.
static struct Span span_of(const struct FlameTree *tree, uint32_t zoom,
                           uint32_t branch, struct Span body)
{
    struct Span above, found = body;
    if (branch == zoom || !FlameTree_is_below(tree, branch, zoom))
        return body;
    uint32_t parent = tree->branches[branch].parent;
    above = span_of(tree, zoom, parent, body);
    struct Shelf shelf = shelf_below(tree, parent, above);
    for (uint32_t i = tree->branches[parent].child; i;
         i = tree->branches[i].sibling) {
        found = place_on(&shelf, i);
        if (i == branch)
            break;
    }
    return found;
}

// Returns the screen line of the boxes at the level `depth` of the tree, or -1
// if this line is not visible.
static int line_of(const struct FlameGraph *graph, int depth)
{
    int line = depth - graph->top;
    return line >= 0 && line < graph->height ? graph->y + line : -1;
}

bool FlameGraph_shows(const struct FlameGraph *graph, uint32_t branch)
{
    struct Span span = span_of(graph->tree, graph->zoom, branch, graph->body);
    return span.end > span.x;
}

uint32_t FlameGraph_beside(const struct FlameGraph *graph, int step)
{
    const struct FlameTree *tree = graph->tree;
    int depth = tree->branches[graph->selected].depth;
    uint32_t at = graph->selected;
    do {
        at = FlameTree_next(tree, at, step);
        if (tree->branches[at].depth == depth &&
            FlameTree_is_below(tree, at, graph->zoom) &&
            FlameGraph_shows(graph, at))
            return at;
    } while (at); // The search ends at the root, which has the number 0.
    return graph->selected;
}

bool FlameGraph_at(const struct FlameGraph *graph, int x, int y,
                   uint32_t *branch)
{
    int depth = y - graph->y + graph->top;
    const struct FlameTree *tree = graph->tree;
    if (y < graph->y || y >= graph->y + graph->height)
        return false;
    *branch = graph->zoom;
    while (depth < tree->branches[*branch].depth)
        *branch = tree->branches[*branch].parent;
    struct Span span = graph->body;
    while (tree->branches[*branch].depth < depth) {
        struct Shelf shelf = shelf_below(tree, *branch, span);
        uint32_t i = tree->branches[*branch].child;
        struct Span child = {0, 0};
        for (; i; i = tree->branches[i].sibling) {
            child = place_on(&shelf, i);
            if (x >= child.x && x < child.end)
                break;
        }
        if (!i)
            return false;
        *branch = i;
        span = child;
    }
    return true;
}

// --- Drawing

static enum Style style_of(const struct FlameBranch *branch)
{
    int kind = FlameWait_kind(branch->id);
    return kind < 0 ? Gauge_heat(branch->total) : TimeBar_style((unsigned)kind);
}

// The boxes of C functions have a dotted edge.
static const char *edge_of(const struct FlameBranch *branch)
{
    return FlameNative_is(branch->id) ? "┊" : "│";
}

static void draw_box(const struct FlameGraph *graph, struct Canvas *canvas,
                     uint32_t branch, struct Span span)
{
    const struct FlameBranch *at = &graph->tree->branches[branch];
    const struct Window *window = &graph->window;
    char share[NUMBER_MAX];
    enum Basis basis = Window_share(share, window, at->total);
    int y = line_of(graph, at->depth), width = span.end - span.x - 1;
    bool above = branch != graph->zoom &&
                 FlameTree_is_below(graph->tree, graph->zoom, branch);
    bool faint = above || basis < BASIS_FINE;
    uint8_t style = (uint8_t)(faint ? STYLE_FAINT : style_of(at));
    if (y < 0 || width < 0)
        return;
    Canvas_put(canvas, y, span.x, span.end, STYLE_FAINT, edge_of(at));
    struct Box box = {y, span.x + 1, width};
    int name = Canvas_measure(canvas, at->name);
    int number = Canvas_measure(canvas, share);
    if (width < LEAST_CUT)
        Canvas_put(canvas, y, box.x, box.x + width, style, at->name);
    else
        Canvas_fit(canvas, box, style, CUT_END, at->name);
    if (name + 1 + number < width)
        Canvas_put(canvas, y, box.x + name + 1, span.end, STYLE_FAINT, share);
    if (branch == graph->selected)
        Canvas_select(canvas, (struct Box){y, span.x, width + 1});
}

static void draw_below(const struct FlameGraph *graph, struct Canvas *canvas,
                       uint32_t branch, struct Span span);

static void draw_children(const struct FlameGraph *graph, struct Canvas *canvas,
                          uint32_t branch, struct Span span)
{
    const struct FlameTree *tree = graph->tree;
    int y = line_of(graph, tree->branches[branch].depth + 1);
    struct Shelf shelf = shelf_below(tree, branch, span);
    for (uint32_t i = tree->branches[branch].child; i;
         i = tree->branches[i].sibling) {
        struct Span child = place_on(&shelf, i);
        if (child.end > child.x)
            draw_below(graph, canvas, i, child);
    }
    int end = span.x + (int)(shelf.used + 0.5);
    int narrow = span.x + (int)(shelf.used + shelf.hidden * shelf.scale + 0.5);
    if (y < 0)
        return;
    // For the children without a box, draws one dot per column.
    for (int x = end; x < narrow; x++)
        Canvas_put(canvas, y, x, x + 1, STYLE_FAINT, "·");
    if (shelf.used > 0 || narrow > end)
        Canvas_put(canvas, y, narrow, span.end, STYLE_FAINT, "│");
}

static void draw_below(const struct FlameGraph *graph, struct Canvas *canvas,
                       uint32_t branch, struct Span span)
{
    int depth = graph->tree->branches[branch].depth;
    draw_box(graph, canvas, branch, span);
    if (depth + 1 < graph->top + graph->height)
        draw_children(graph, canvas, branch, span);
}

void FlameGraph_draw(const struct FlameGraph *graph, struct Canvas *canvas)
{
    uint32_t path[FLAME_DEPTH + 1];
    int count = 0;
    for (uint32_t i = graph->zoom; i; i = graph->tree->branches[i].parent)
        path[count++] = i;
    if (graph->zoom)
        draw_box(graph, canvas, 0, graph->body);
    // The box of each caller of the zoomed branch also has the full width.
    while (count > 1)
        draw_box(graph, canvas, path[--count], graph->body);
    draw_below(graph, canvas, graph->zoom, graph->body);
}

void FlameGraph_draw_selected(const struct FlameGraph *graph,
                              struct Canvas *canvas, int y)
{
    const struct FlameBranch *at = &graph->tree->branches[graph->selected];
    const struct Window *window = &graph->window;
    char text[NUMBER_MAX];
    struct Strip strip;
    Strip_init(&strip);
    Strip_put(&strip, 0, STYLE_ACCENT, "%.200s", at->name);
    Strip_flex(&strip, 12);
    Strip_item(&strip, 1);
    Window_share(text, window, at->total);
    Strip_add(&strip, STYLE_STRONG, "%s", text);
    if (FlameWait_kind(at->id) < 0 && Window_share(text, window, at->self)) {
        Strip_put(&strip, 3, STYLE_PLAIN, "%s", text);
        Strip_add(&strip, STYLE_FAINT,
                  graph->selected ? " itself" : " in what is not traced");
    }
    if (Window_share(text, window, at->in_c)) {
        Strip_put(&strip, 4, STYLE_PLAIN, "%s", text);
        Strip_add(&strip, STYLE_FAINT, " in C");
    }
    if (at->depth) {
        double above = graph->tree->branches[at->parent].total;
        Strip_put(&strip, 5, STYLE_PLAIN, "%s",
                  Window_plain_share(text, at->total / above));
        Strip_add(&strip, STYLE_FAINT, " of its caller");
    }
    if (at->file) {
        Strip_item(&strip, 6);
        Strip_right(&strip);
        Strip_add(&strip, STYLE_FAINT, "%.300s", at->file);
        if (at->line != NULL_U64)
            Strip_add(&strip, STYLE_FAINT, ":%llu",
                      (unsigned long long)at->line);
        Strip_flex(&strip, 12);
    }
    Strip_draw(&strip, canvas, (struct Box){y, 1, canvas->width - 2}, 3);
}
