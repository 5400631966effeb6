// SPDX-License-Identifier: MIT
#include "tui/views/view_flame.h"

#include "tui/model/json.h"
#include "tui/model/window.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/flame_graph.h"
#include "tui/views/ui.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

enum {
    FLAME_ZOOM = REQUEST_OWN,
    FLAME_LEFT,
    FLAME_RIGHT,
    FLAME_PERIOD,
    FLAME_NEXT_MODE,
    FLAME_IDLE,
    FLAME_NATIVES
};

static const struct Binding KEYS[] = {
    BINDING(FLAME_ZOOM, 0, "zoom in; Esc zooms out", NULL, "Zoom", 2,
            PRESS_ENTER),
    BINDING(FLAME_LEFT, 0, "the box to the left", NULL, NULL, 0, PRESS_LEFT),
    BINDING(FLAME_RIGHT, 0, "the box to the right", NULL, NULL, 0, PRESS_RIGHT),
    BINDING(FLAME_PERIOD, 0,
            "another window: recent, 5 s, 60 s, since the last r or the start",
            NULL, "Window", 4, 'w'),
    BINDING(FLAME_NEXT_MODE, 0,
            "CPU time, wall time with the waits, or only the waits", NULL,
            "Mode", 3, 'm'),
    BINDING(FLAME_IDLE, 0,
            "show the waits of idle threads and event loops; hide them", NULL,
            NULL, 0, 'i'),
    BINDING(FLAME_NATIVES, CAN_ASK,
            "show the C functions below Python functions; hide them", NULL,
            NULL, 0, 'C'),
    {.request = 0},
};

static void open_view(struct Ui *ui, uint64_t function)
{
    (void)function;
    FlameState_open(&ui->flame, ui->model.snapshot);
}

static void want(struct Ui *ui)
{
    FlameState_ask(&ui->flame, ui->feed, ui->model.snapshot);
    if (ui->natives)
        Feed_ask(ui->feed, MESSAGE_NATIVE, 0);
}

static void reset(struct Ui *ui)
{
    struct FlameState *state = &ui->flame;
    if (ui->view == VIEW_FLAME && state->tree.count) {
        FlameState_mark(state);
        return;
    }
    state->marking = true;
    state->asked_at = NAN;
    want(ui);
}

// --- Drawing

// Adds the name of the mode, and the idle time that is not shown in this mode.
static void add_mode(const struct FlameTree *tree, const char *window, double s,
                     struct Strip *strip)
{
    static const char *const names[] = {"CPU time", "wall time", "waits"};
    char number[NUMBER_MAX];
    Strip_put(strip, 2, tree->mode == FLAME_CPU ? STYLE_FAINT : STYLE_PROMPT,
              "%s", names[tree->mode]);
    if (*window) {
        Strip_add(strip, STYLE_FAINT, " over ");
        Strip_add(strip, STYLE_PLAIN, "%s", window);
    } else if (tree->mode != FLAME_CPU && isfinite(s)) {
        Strip_add(strip, STYLE_FAINT, " over ");
        Strip_add(strip, STYLE_PLAIN, "%.0f s", fmin(s, 1e9));
    }
    if (tree->mode == FLAME_CPU)
        return;
    if (tree->idle)
        Strip_add(strip, STYLE_FAINT, ", with idle threads");
    else if (*Window_plain_share(number, tree->rest))
        Strip_add(strip, STYLE_FAINT, ", without %s idle", number);
}

static void draw_title(struct Ui *ui)
{
    const struct FlameTree *tree = &ui->flame.tree;
    struct Window shown = FlameState_window(&ui->flame, &ui->model.window);
    const struct Window *window = &shown;
    char number[NUMBER_MAX], text[WINDOW_TEXT];
    struct Strip strip;
    Strip_init(&strip);
    Strip_put(&strip, 0, STYLE_STRONG, "Flame");
    Strip_item(&strip, 1);
    if (tree->count) {
        double total = tree->branches[0].total;
        enum Basis basis = Window_share(number, window, total);
        Strip_add(&strip, STYLE_PLAIN, "%s", basis ? number : "nothing");
        Strip_add(&strip, STYLE_FAINT, " of a core");
        Strip_put(&strip, 3, STYLE_PLAIN, "%zu", tree->count - 1);
        Strip_add(&strip, STYLE_FAINT, " paths");
        add_mode(tree, Window_text(text, window), window->s, &strip);
        if (ui->flame.period != PERIOD_LATELY)
            Strip_add(&strip, STYLE_FAINT, "%s",
                      ui->flame.own
                          ? History_about(&ui->flame.history, ui->flame.period)
                          : ", no other yet");
    }
    Ui_draw_title(ui, &strip);
}

// Draws the bar above the graph. The bar's text names the zoomed function, or
// says that callees are below their callers.
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

static struct FlameGraph prepare(struct Ui *ui)
{
    struct FlameState *state = &ui->flame;
    const struct Layout *layout = &ui->layout;
    uint32_t zoom = FlameState_zoom(state);
    struct FlameGraph graph = {
        .tree = &state->tree,
        .window = FlameState_window(state, &ui->model.window),
        .zoom = zoom,
        .selected = FlameState_selected(state, zoom),
        .body = {0, ui->canvas.width},
        .y = layout->body_y,
        .height = layout->body_height > 1 ? layout->body_height - 1 : 1,
    };
    int depth = state->tree.branches[graph.selected].depth;
    if (state->top > depth)
        state->top = depth;
    if (state->top < depth - graph.height + 1)
        state->top = depth - graph.height + 1;
    graph.top = state->top;
    return graph;
}

static const char *why_empty(const struct Ui *ui, const struct Status *status)
{
    const struct FlameState *state = &ui->flame;
    if (*state->refused)
        return state->refused;
    if (state->tree.count)
        return state->tree.mode == FLAME_CPU
                   ? "No sample of the window found a thread running."
                   : "No observation of the window found a thread waiting.";
    if (!ui->model.snapshot)
        return Status_waiting(status);
    if (status->ended && !Feed_is_replay(ui->feed))
        return "The program has ended, and its stacks were not asked for.";
    if (status->paused && !Feed_is_replay(ui->feed))
        return "Paused, and the stacks of this moment were not asked for: "
               "Space goes on.";
    return "Waiting for the first stacks.";
}

static void draw(struct Ui *ui, const struct Status *status)
{
    struct FlameState *state = &ui->flame;
    const struct Layout *layout = &ui->layout;
    draw_title(ui);
    if (!state->tree.count || !(state->tree.branches[0].total > 0)) {
        draw_bar(ui, 0);
        Canvas_fit(&ui->canvas,
                   (struct Box){layout->body_y + 1, 2, ui->canvas.width - 3},
                   STYLE_PLAIN, CUT_END, why_empty(ui, status));
        return;
    }
    struct FlameGraph graph = prepare(ui);
    draw_bar(ui, graph.zoom);
    FlameGraph_draw(&graph, &ui->canvas);
    FlameGraph_draw_selected(&graph, &ui->canvas,
                             layout->body_y + layout->body_height - 1);
}

// --- Keys

// Returns the function of the selected box. If the box is a wait or a C
// function, returns the Python function that waits or has called it. Boxes of
// all threads and of a cut-off stack have no function.
static uint64_t selected_function(const struct Ui *ui)
{
    const struct FlameState *state = &ui->flame;
    if (!state->tree.count)
        return 0;
    uint32_t branch = FlameState_selected(state, FlameState_zoom(state));
    while (branch && (FlameWait_kind(state->tree.branches[branch].id) >= 0 ||
                      FlameNative_is(state->tree.branches[branch].id)))
        branch = state->tree.branches[branch].parent;
    uint64_t id = state->tree.branches[branch].id;
    return id == NULL_U64 ? 0 : id;
}

static int json(const struct Ui *ui, struct Bytes *out)
{
    const struct FlameTree *tree = &ui->flame.tree;
    return tree->count ? Json_record(out, &FLAME_TABLE_RECORD, tree->table)
                       : -ENODATA;
}

// Handles a click. A click on the selected box, or on a caller of the zoomed
// box, zooms to that box. A click on any other box selects it.
static void click(struct FlameGraph *graph, struct FlameState *state,
                  uint32_t key)
{
    uint32_t branch;
    if (!FlameGraph_at(graph, Key_x(key), Key_y(key), &branch))
        return;
    if (branch == graph->selected ||
        !FlameTree_is_below(&state->tree, branch, graph->zoom))
        FlameState_zoom_to(state, branch);
    else
        FlameState_select(state, branch);
}

static bool press(struct Ui *ui, int request, uint32_t key)
{
    struct FlameState *state = &ui->flame;
    if (request == REQUEST_BACK)
        return FlameState_zoom_out(state);
    if (request >= FLAME_PERIOD) {
        if (request == FLAME_PERIOD)
            FlameState_next_period(state);
        else if (request == FLAME_NEXT_MODE)
            FlameState_next_mode(state);
        else if (request == FLAME_NATIVES)
            Ui_want_natives(ui, FlameState_toggle_natives(state));
        else
            FlameState_toggle_idle(state);
        return true;
    }
    if (!state->tree.count) // If the tree has no branches, there are no boxes.
        return request >= REQUEST_OWN;
    struct FlameGraph graph = prepare(ui);
    int page = graph.height > 1 ? graph.height - 1 : 1;
    switch (request) {
    case FLAME_ZOOM:
        FlameState_zoom_to(state, graph.selected);
        return true;
    case FLAME_LEFT:
    case FLAME_RIGHT:
        FlameState_select(
            state, FlameGraph_beside(&graph, request == FLAME_LEFT ? -1 : 1));
        return true;
    case REQUEST_UP:
    case REQUEST_SCROLL_UP:
        FlameState_move(state, graph.selected, -1);
        return true;
    case REQUEST_DOWN:
    case REQUEST_SCROLL_DOWN:
        FlameState_move(state, graph.selected, 1);
        return true;
    case REQUEST_PAGE_UP:
        FlameState_move(state, graph.selected, -page);
        return true;
    case REQUEST_PAGE_DOWN:
        FlameState_move(state, graph.selected, page);
        return true;
    case REQUEST_HOME:
        FlameState_select(state, graph.zoom);
        return true;
    case REQUEST_END:
        FlameState_move(state, graph.selected, FLAME_DEPTH);
        return true;
    case REQUEST_CLICK:
        click(&graph, state, key);
        return true;
    default:
        return false;
    }
}

// Selects a branch and makes its box visible. If the branch is outside of the
// zoomed box, zooms out. If the branch is too narrow for a box, zooms in.
static void reveal(struct FlameGraph *graph, struct FlameState *state,
                   uint32_t branch)
{
    const struct FlameTree *tree = graph->tree;
    while (!FlameTree_is_below(tree, branch, graph->zoom))
        graph->zoom = tree->branches[graph->zoom].parent;
    if (!FlameGraph_shows(graph, branch))
        graph->zoom = branch;
    FlameTree_path(tree, graph->zoom, &state->zoom);
    FlameState_select(state, branch);
}

static bool find(struct Ui *ui, int step, bool here)
{
    struct FlameState *state = &ui->flame;
    if (!state->tree.count)
        return false;
    struct FlameGraph graph = prepare(ui);
    uint32_t from = graph.selected, at = from;
    if (!here)
        at = FlameTree_next(&state->tree, at, step);
    do {
        if (at && Text_has(state->tree.branches[at].name, ui->model.search)) {
            reveal(&graph, state, at);
            return true;
        }
        at = FlameTree_next(&state->tree, at, step);
    } while (at != from);
    return false;
}

const struct View FLAME_VIEW = {
    .name = "Flame",
    .opens = BINDING(0, 0, "flame graph: CPU time and waits by who calls whom",
                     NULL, "Flame", 9, 'f'),
    .own = KEYS,
    .can = CAN_SEARCH | CAN_FUNCTION | CAN_RESET,
    .open = open_view,
    .want = want,
    .draw = draw,
    .reset = reset,
    .press = press,
    .find = find,
    .function = selected_function,
    .json = json};
