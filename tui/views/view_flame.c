// SPDX-License-Identifier: MIT
// See view_flame.h.
#include "tui/views/view_flame.h"

#include "tui/model/json.h"
#include "tui/model/window.h"
#include "tui/screen/gauge.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/header.h"
#include "tui/views/ui.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_CUT 4 // narrower names are better off without the mark of a cut

enum { FLAME_ZOOM = REQUEST_OWN, FLAME_LEFT, FLAME_RIGHT, FLAME_PERIOD };

const struct Binding VIEW_FLAME_KEYS[] = {
    {FLAME_ZOOM, 0, {PRESS_ENTER}, "zoom in; Esc zooms out", NULL, "Zoom", 2},
    {FLAME_LEFT, 0, {PRESS_LEFT}, "the box to the left", NULL, NULL, 0},
    {FLAME_RIGHT, 0, {PRESS_RIGHT}, "the box to the right", NULL, NULL, 0},
    {FLAME_PERIOD,
     0,
     {'w'},
     "another window: lately, 5 s, 60 s, since the last r or the start",
     NULL,
     "Window",
     4},
    {.request = 0},
};

void ViewFlame_open(struct Ui *ui, uint64_t function)
{
    (void)function;
    FlameState_open(&ui->flame, ui->model.snapshot);
}

void ViewFlame_want(struct Ui *ui)
{
    FlameState_ask(&ui->flame, ui->feed, ui->model.snapshot);
}

void ViewFlame_reset(struct Ui *ui)
{
    struct FlameState *state = &ui->flame;
    if (ui->view == VIEW_FLAME && state->tree.count) {
        FlameState_mark(state);
        return;
    }
    state->marking = true;
    state->asked_at = NAN;
    ViewFlame_want(ui);
}

// What shares on the screen rest on.
static const struct Window *window_of(const struct Ui *ui)
{
    return ui->flame.own ? &ui->flame.window : &ui->model.window;
}

// --- Geometry

struct Span { // columns; empty where they are not on the screen
    int x;
    int end;
};

// The children of a branch side by side, by their totals; those that would not
// have a column of their own together at the end.
struct Shelf {
    const struct FlameTree *tree;
    struct Span span; // of the caller
    double scale;     // columns a share
    double used;      // columns taken
    double hidden;    // shares without a column
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

static struct Span place(struct Shelf *row, uint32_t child)
{
    double width = row->tree->branches[child].total * row->scale;
    struct Span span;
    if (width < 1) {
        row->hidden += row->tree->branches[child].total;
        return (struct Span){row->span.x, row->span.x};
    }
    span.x = row->span.x + (int)(row->used + 0.5);
    row->used += width;
    span.end = row->span.x + (int)(row->used + 0.5);
    return span;
}

// Where a box is, the zoom being as wide as the body.
static struct Span span_of(const struct FlameTree *tree, uint32_t zoom,
                           uint32_t branch, struct Span body)
{
    struct Span above, found = body;
    if (branch == zoom || !FlameTree_is_below(tree, branch, zoom))
        return body;
    uint32_t parent = tree->branches[branch].parent;
    above = span_of(tree, zoom, parent, body);
    struct Shelf row = shelf_below(tree, parent, above);
    for (uint32_t i = tree->branches[parent].child; i;
         i = tree->branches[i].sibling) {
        found = place(&row, i);
        if (i == branch)
            break;
    }
    return found;
}

// --- Drawing

struct Painter {
    struct Ui *ui;
    const struct FlameTree *tree;
    uint32_t zoom, selected;
    struct Span body;
    int top, y, height; // of the lines that are drawn
};

static int line_of(const struct Painter *painter, int depth)
{
    int line = depth - painter->top;
    return line >= 0 && line < painter->height ? painter->y + line : -1;
}

static void draw_box(const struct Painter *painter, uint32_t branch,
                     struct Span span)
{
    const struct FlameBranch *at = &painter->tree->branches[branch];
    struct Canvas *canvas = &painter->ui->canvas;
    const struct Window *window = window_of(painter->ui);
    char share[NUMBER_MAX];
    enum Basis basis = Window_share(share, window, at->total);
    int y = line_of(painter, at->depth), width = span.end - span.x - 1;
    bool above = branch != painter->zoom &&
                 FlameTree_is_below(painter->tree, painter->zoom, branch);
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
    if (branch == painter->selected)
        Canvas_select(canvas, (struct Box){y, span.x, width + 1});
}

static void draw_below(const struct Painter *painter, uint32_t branch,
                       struct Span span);

static void draw_children(const struct Painter *painter, uint32_t branch,
                          struct Span span)
{
    const struct FlameTree *tree = painter->tree;
    struct Canvas *canvas = &painter->ui->canvas;
    int y = line_of(painter, tree->branches[branch].depth + 1);
    struct Shelf row = shelf_below(tree, branch, span);
    for (uint32_t i = tree->branches[branch].child; i;
         i = tree->branches[i].sibling) {
        struct Span child = place(&row, i);
        if (child.end > child.x)
            draw_below(painter, i, child);
    }
    int end = span.x + (int)(row.used + 0.5);
    int narrow = span.x + (int)(row.used + row.hidden * row.scale + 0.5);
    if (y < 0)
        return;
    for (int x = end; x < narrow; x++) // too narrow for a box each
        Canvas_put(canvas, y, x, x + 1, STYLE_FAINT, "·");
    if (row.used > 0 || narrow > end)
        Canvas_put(canvas, y, narrow, span.end, STYLE_FAINT, "│");
}

static void draw_below(const struct Painter *painter, uint32_t branch,
                       struct Span span)
{
    int depth = painter->tree->branches[branch].depth;
    draw_box(painter, branch, span);
    if (depth + 1 < painter->top + painter->height)
        draw_children(painter, branch, span);
}

static void draw_graph(const struct Painter *painter)
{
    uint32_t path[FLAME_DEPTH + 1];
    int count = 0;
    for (uint32_t i = painter->zoom; i; i = painter->tree->branches[i].parent)
        path[count++] = i;
    if (painter->zoom)
        draw_box(painter, 0, painter->body);
    while (count > 1) // callers of what is zoomed in on, as wide as that
        draw_box(painter, path[--count], painter->body);
    draw_below(painter, painter->zoom, painter->body);
}

// What the selected box is: the body's last line.
static void draw_selected(const struct Painter *painter, int y)
{
    const struct FlameBranch *at = &painter->tree->branches[painter->selected];
    const struct Window *window = window_of(painter->ui);
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
                  painter->selected ? " itself" : " in what is not traced");
    }
    if (Window_share(text, window, at->in_c)) {
        Strip_item(&strip, 4);
        Strip_add(&strip, STYLE_PLAIN, "%s", text);
        Strip_add(&strip, STYLE_FAINT, " in C");
    }
    if (at->depth) {
        double above = painter->tree->branches[at->parent].total;
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
    Strip_draw(&strip, &painter->ui->canvas,
               (struct Box){y, 1, painter->ui->canvas.width - 2}, 3);
}

static void draw_title(struct Ui *ui)
{
    const struct FlameTree *tree = &ui->flame.tree;
    const struct Window *window = window_of(ui);
    char number[NUMBER_MAX], text[WINDOW_TEXT];
    struct Strip strip;
    Strip_init(&strip);
    Strip_item(&strip, 0);
    Strip_add(&strip, STYLE_STRONG, "Flame");
    Strip_item(&strip, 1);
    if (tree->count) {
        double total = tree->branches[0].total;
        enum Basis basis = Window_share(number, window, total);
        Strip_add(&strip, STYLE_PLAIN, "%s", basis ? number : "nothing");
        Strip_add(&strip, STYLE_FAINT, " of a core");
        Strip_item(&strip, 3);
        Strip_add(&strip, STYLE_PLAIN, "%zu", tree->count - 1);
        Strip_add(&strip, STYLE_FAINT, " paths");
        Strip_item(&strip, 2);
        Strip_add(&strip, STYLE_FAINT, "CPU time");
        if (*Window_text(text, window)) {
            Strip_add(&strip, STYLE_FAINT, " over ");
            Strip_add(&strip, STYLE_PLAIN, "%s", text);
        }
        if (ui->flame.period != PERIOD_LATELY)
            Strip_add(&strip, STYLE_FAINT, "%s",
                      ui->flame.own
                          ? History_about(&ui->flame.history, ui->flame.period)
                          : ", no other yet");
    }
    Strip_draw(&strip, &ui->canvas,
               (struct Box){ui->layout.title_y, 1, ui->canvas.width - 2}, 3);
}

// The bar: which way it goes, and what is zoomed in on.
static void draw_bar(struct Ui *ui, uint32_t zoom)
{
    const struct FlameTree *tree = &ui->flame.tree;
    struct Canvas *canvas = &ui->canvas;
    struct Box bar = {ui->layout.table_y, 0, canvas->width};
    char text[512];
    snprintf(text, sizeof text,
             zoom ? "zoomed in on %.300s"
                  : "callers, and below them what they call",
             tree->count ? tree->branches[zoom].name : "");
    Canvas_paint(canvas, bar, STYLE_HEAD);
    Canvas_fit(canvas, (struct Box){bar.y, 1, bar.width - 2}, STYLE_HEAD,
               CUT_END, text);
}

static void say(struct Ui *ui, const char *text)
{
    const struct Layout *layout = &ui->layout;
    Canvas_fit(&ui->canvas,
               (struct Box){layout->body_y + 1, 2, ui->canvas.width - 3},
               STYLE_PLAIN, CUT_END, text);
}

static struct Painter prepare(struct Ui *ui)
{
    struct FlameState *state = &ui->flame;
    const struct Layout *layout = &ui->layout;
    uint32_t zoom = FlameState_zoom(state);
    struct Painter painter = {
        .ui = ui,
        .tree = &state->tree,
        .zoom = zoom,
        .selected = FlameState_selected(state, zoom),
        .body = {0, ui->canvas.width},
        .y = layout->body_y,
        .height = layout->body_height > 1 ? layout->body_height - 1 : 1,
    };
    int depth = state->tree.branches[painter.selected].depth;
    if (state->top > depth)
        state->top = depth;
    if (state->top < depth - painter.height + 1)
        state->top = depth - painter.height + 1;
    painter.top = state->top;
    return painter;
}

static const char *why_empty(const struct Ui *ui, const struct Status *status)
{
    const struct FlameState *state = &ui->flame;
    if (*state->refused)
        return state->refused;
    if (state->tree.count)
        return "No sample of the window found a thread running.";
    if (!ui->model.snapshot)
        return Status_waiting(status);
    if (status->ended && !Feed_is_replay(ui->feed))
        return "The program has ended, and its stacks were not asked for.";
    if (status->paused && !Feed_is_replay(ui->feed))
        return "Paused, and the stacks of this moment were not asked for: "
               "Space goes on.";
    return "Waiting for the first stacks.";
}

void ViewFlame_show(struct Ui *ui, const struct Status *status)
{
    struct FlameState *state = &ui->flame;
    const struct Layout *layout = &ui->layout;
    Header_draw_process(&ui->canvas, &ui->model, status);
    draw_title(ui);
    if (!state->tree.count || !(state->tree.branches[0].total > 0)) {
        draw_bar(ui, 0);
        say(ui, why_empty(ui, status));
        return;
    }
    struct Painter painter = prepare(ui);
    draw_bar(ui, painter.zoom);
    draw_graph(&painter);
    draw_selected(&painter, layout->body_y + layout->body_height - 1);
}

// --- Keys

// That of the selected box; all threads together, and what is too deep to be
// told, are none.
uint64_t ViewFlame_function(const struct Ui *ui)
{
    const struct FlameState *state = &ui->flame;
    if (!state->tree.count)
        return 0;
    uint32_t branch = FlameState_selected(state, FlameState_zoom(state));
    uint64_t id = state->tree.branches[branch].id;
    return id == NULL_U64 ? 0 : id;
}

int ViewFlame_json(const struct Ui *ui, struct Bytes *out)
{
    const struct FlameTree *tree = &ui->flame.tree;
    return tree->count ? Json_stacks(out, tree->table) : -ENODATA;
}

// Of a branch at or below the zoom: has it a box, or is it too narrow?
static bool is_shown(const struct Painter *painter, uint32_t branch)
{
    struct Span span =
        span_of(painter->tree, painter->zoom, branch, painter->body);
    return span.end > span.x;
}

// The nearest box to a side in the same line, whoever calls it.
static void move_sideways(struct Painter *painter, struct FlameState *state,
                          int step)
{
    int depth = state->tree.branches[painter->selected].depth;
    uint32_t at = painter->selected;
    do {
        at = FlameTree_next(&state->tree, at, step);
        if (state->tree.branches[at].depth == depth &&
            FlameTree_is_below(&state->tree, at, painter->zoom) &&
            is_shown(painter, at)) {
            FlameState_select(state, at);
            return;
        }
    } while (at); // no further than the end
}

// The box at a place on the screen; false: there is none.
static bool branch_at(const struct Painter *painter, int x, int y,
                      uint32_t *branch)
{
    int depth = y - painter->y + painter->top;
    const struct FlameTree *tree = painter->tree;
    if (y < painter->y || y >= painter->y + painter->height)
        return false;
    *branch = painter->zoom;
    while (depth < tree->branches[*branch].depth)
        *branch = tree->branches[*branch].parent;
    struct Span span = painter->body;
    while (tree->branches[*branch].depth < depth) {
        struct Shelf row = shelf_below(tree, *branch, span);
        uint32_t i = tree->branches[*branch].child;
        struct Span child = {0, 0};
        for (; i; i = tree->branches[i].sibling) {
            child = place(&row, i);
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

// A box that is selected is zoomed in on, a caller of the zoom is zoomed out
// to.
static void click(struct Painter *painter, struct FlameState *state,
                  uint32_t key)
{
    uint32_t branch;
    if (!branch_at(painter, Key_x(key), Key_y(key), &branch))
        return;
    if (branch == painter->selected ||
        !FlameTree_is_below(&state->tree, branch, painter->zoom))
        FlameState_zoom_to(state, branch);
    else
        FlameState_select(state, branch);
}

bool ViewFlame_press(struct Ui *ui, int request, uint32_t key)
{
    struct FlameState *state = &ui->flame;
    if (request == REQUEST_BACK)
        return FlameState_zoom_out(state);
    if (request == FLAME_PERIOD) {
        FlameState_next_period(state);
        return true;
    }
    if (!state->tree.count) // nothing to move among
        return request >= REQUEST_OWN;
    struct Painter painter = prepare(ui);
    int page = painter.height > 1 ? painter.height - 1 : 1;
    switch (request) {
    case FLAME_ZOOM:
        FlameState_zoom_to(state, painter.selected);
        return true;
    case FLAME_LEFT:
    case FLAME_RIGHT:
        move_sideways(&painter, state, request == FLAME_LEFT ? -1 : 1);
        return true;
    case REQUEST_UP:
    case REQUEST_SCROLL_UP:
        FlameState_move(state, painter.selected, -1);
        return true;
    case REQUEST_DOWN:
    case REQUEST_SCROLL_DOWN:
        FlameState_move(state, painter.selected, 1);
        return true;
    case REQUEST_PAGE_UP:
        FlameState_move(state, painter.selected, -page);
        return true;
    case REQUEST_PAGE_DOWN:
        FlameState_move(state, painter.selected, page);
        return true;
    case REQUEST_HOME:
        FlameState_select(state, painter.zoom);
        return true;
    case REQUEST_END:
        FlameState_move(state, painter.selected, FLAME_DEPTH);
        return true;
    case REQUEST_CLICK:
        click(&painter, state, key);
        return true;
    default:
        return false;
    }
}

// Selects it where it has a box: zoomed out as far as it lies outside, or in on
// itself where it is too narrow.
static void reveal(struct Painter *painter, struct FlameState *state,
                   uint32_t branch)
{
    const struct FlameTree *tree = painter->tree;
    while (!FlameTree_is_below(tree, branch, painter->zoom))
        painter->zoom = tree->branches[painter->zoom].parent;
    if (!is_shown(painter, branch))
        painter->zoom = branch;
    FlameTree_path(tree, painter->zoom, &state->zoom);
    FlameState_select(state, branch);
}

bool ViewFlame_find(struct Ui *ui, int step, bool here)
{
    struct FlameState *state = &ui->flame;
    if (!state->tree.count)
        return false;
    struct Painter painter = prepare(ui);
    uint32_t from = painter.selected, at = from;
    if (!here)
        at = FlameTree_next(&state->tree, at, step);
    do {
        if (at && Text_has(state->tree.branches[at].name, ui->model.search)) {
            reveal(&painter, state, at);
            return true;
        }
        at = FlameTree_next(&state->tree, at, step);
    } while (at != from);
    return false;
}

void ViewFlame_keep(struct Ui *ui)
{
    ui->flame.kept_zoom = ui->flame.zoom;
    ui->flame.kept_selected = ui->flame.selected;
}

void ViewFlame_back(struct Ui *ui)
{
    ui->flame.zoom = ui->flame.kept_zoom;
    ui->flame.selected = ui->flame.kept_selected;
}
