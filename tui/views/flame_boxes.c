// SPDX-License-Identifier: MIT
// See flame_boxes.h.
#include "tui/views/flame_boxes.h"

struct Shelf Shelf_below(const struct FlameTree *tree, uint32_t branch,
                         struct Span span)
{
    double total = tree->branches[branch].total;
    return (struct Shelf){
        .tree = tree,
        .span = span,
        .scale = total > 0 ? (span.end - span.x) / total : 0,
    };
}

struct Span Shelf_place(struct Shelf *shelf, uint32_t child)
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

// Returns the columns of a box; the zoom is as wide as the body.
static struct Span span_of(const struct FlameTree *tree, uint32_t zoom,
                           uint32_t branch, struct Span body)
{
    struct Span above, found = body;
    if (branch == zoom || !FlameTree_is_below(tree, branch, zoom))
        return body;
    uint32_t parent = tree->branches[branch].parent;
    above = span_of(tree, zoom, parent, body);
    struct Shelf shelf = Shelf_below(tree, parent, above);
    for (uint32_t i = tree->branches[parent].child; i;
         i = tree->branches[i].sibling) {
        found = Shelf_place(&shelf, i);
        if (i == branch)
            break;
    }
    return found;
}

int FlameBoxes_line(const struct FlameBoxes *boxes, int depth)
{
    int line = depth - boxes->top;
    return line >= 0 && line < boxes->height ? boxes->y + line : -1;
}

bool FlameBoxes_shows(const struct FlameBoxes *boxes, uint32_t branch)
{
    struct Span span = span_of(boxes->tree, boxes->zoom, branch, boxes->body);
    return span.end > span.x;
}

uint32_t FlameBoxes_beside(const struct FlameBoxes *boxes, int step)
{
    const struct FlameTree *tree = boxes->tree;
    int depth = tree->branches[boxes->selected].depth;
    uint32_t at = boxes->selected;
    do {
        at = FlameTree_next(tree, at, step);
        if (tree->branches[at].depth == depth &&
            FlameTree_is_below(tree, at, boxes->zoom) &&
            FlameBoxes_shows(boxes, at))
            return at;
    } while (at); // until the walk has come round
    return boxes->selected;
}

bool FlameBoxes_at(const struct FlameBoxes *boxes, int x, int y,
                   uint32_t *branch)
{
    int depth = y - boxes->y + boxes->top;
    const struct FlameTree *tree = boxes->tree;
    if (y < boxes->y || y >= boxes->y + boxes->height)
        return false;
    *branch = boxes->zoom;
    while (depth < tree->branches[*branch].depth)
        *branch = tree->branches[*branch].parent;
    struct Span span = boxes->body;
    while (tree->branches[*branch].depth < depth) {
        struct Shelf shelf = Shelf_below(tree, *branch, span);
        uint32_t i = tree->branches[*branch].child;
        struct Span child = {0, 0};
        for (; i; i = tree->branches[i].sibling) {
            child = Shelf_place(&shelf, i);
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
