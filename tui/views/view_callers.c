// SPDX-License-Identifier: MIT
// See view_callers.h.
#include "tui/views/view_callers.h"

#include "tui/model/column.h"
#include "tui/model/window.h"
#include "tui/screen/gauge.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/header.h"
#include "tui/views/navigation.h"
#include "tui/views/ui.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_FROM 90 // width from which on there is a column for the file

enum { CALLERS_GO = REQUEST_OWN, CALLERS_UNFOLD, CALLERS_FOLD, CALLERS_PERIOD };

const struct Binding VIEW_CALLERS_KEYS[] = {
    {CALLERS_GO,
     0,
     {PRESS_ENTER},
     "the selected function comes to the middle; there, it opens annotate",
     NULL,
     "Go there",
     2},
    {CALLERS_UNFOLD,
     0,
     {PRESS_RIGHT},
     "unfold the selected function",
     NULL,
     "Unfold",
     3},
    {CALLERS_FOLD, 0, {PRESS_LEFT}, "fold it, or go back", NULL, "Fold", 9},
    {CALLERS_PERIOD,
     0,
     {'w'},
     "another window: lately, 5 s, 60 s, since the last r or the start",
     NULL,
     "Window",
     9},
    {.request = 0},
};

// The snapshot has the calls of the sampler's own window. For another one this
// view counts the flame graph's stacks, of which that view keeps a minute.
void ViewCallers_want(struct Ui *ui)
{
    if (ui->callers.period != PERIOD_LATELY)
        FlameState_ask(&ui->flame, ui->feed, ui->model.snapshot);
}

static void go_to(struct Ui *ui, uint64_t id)
{
    CallersState_go_to(&ui->callers, id);
    // The main screen selects it, too, if it is there at all.
    Model_choose(&ui->model, id);
}

void ViewCallers_open(struct Ui *ui, uint64_t function)
{
    ui->callers.depth = 0;
    go_to(ui, function);
}

uint64_t ViewCallers_function(const struct Ui *ui)
{
    const struct CallersState *state = &ui->callers;
    const struct Branch *branch = CallersState_selected(state);
    return branch ? branch->id : state->tree.root;
}

void ViewCallers_reset(struct Ui *ui)
{
    if (ui->view == VIEW_CALLERS)
        ui->callers.period = PERIOD_SINCE;
}

// --- Drawing

static void put_share(struct Canvas *canvas, struct Box box,
                      const struct Window *window, double share)
{
    char text[NUMBER_MAX];
    enum Basis basis = Window_share(text, window, share);
    Canvas_fit_right(canvas, box,
                     basis == BASIS_FINE ? Gauge_heat(share) : STYLE_FAINT,
                     text);
}

static void put_part(struct Canvas *canvas, struct Box box, double part)
{
    char text[NUMBER_MAX];
    Canvas_fit_right(canvas, box, STYLE_FAINT, Window_plain_share(text, part));
}

// "│  ├─ ▸ "; the x behind it.
static int put_limbs(struct Canvas *canvas, int y, int x, int end,
                     const struct Branch *branch)
{
    for (int i = 1; i < branch->depth; i++)
        x = Canvas_put(canvas, y, x, end, STYLE_FAINT,
                       branch->bars & 1u << i ? "│  " : "   ");
    if (branch->depth)
        x = Canvas_put(canvas, y, x, end, STYLE_FAINT,
                       branch->last ? "└─ " : "├─ ");
    if (branch->opens)
        x = Canvas_put(canvas, y, x, end, STYLE_ACCENT,
                       branch->open ? "▾ " : "▸ ");
    return x;
}

static void put_file(struct Canvas *canvas, struct Box box,
                     const struct Function *function)
{
    char file[1024];
    const char *path = function->file ? function->file : "?";
    if (function->line != NULL_U64)
        snprintf(file, sizeof file, "%s:%llu", Text_tail(path, 960),
                 (unsigned long long)function->line);
    else
        snprintf(file, sizeof file, "%s", Text_tail(path, 960));
    Canvas_fit_path(canvas, box, STYLE_FAINT, file);
}

static void put_function(struct Ui *ui, struct Box box, int x,
                         const struct Branch *branch)
{
    struct Canvas *canvas = &ui->canvas;
    const struct Row *row = Model_row_of(&ui->model, branch->id);
    int end = box.x + box.width, file = 0;
    char text[1024];
    if (!row || !row->now) {
        Canvas_put(canvas, box.y, x, end, STYLE_FAINT,
                   "a function that is not listed any more");
        return;
    }
    if (canvas->width >= FILE_FROM)
        file = (end - box.x) * 2 / 5;
    snprintf(text, sizeof text, "%s%s",
             Text_tail(Column_text_key(COLUMN_FUNCTION, row), 960),
             branch->again ? " (again)" : "");
    if (end - file - x > 3)
        Canvas_fit(canvas, (struct Box){box.y, x, end - file - x - 2},
                   branch->kind == BRANCH_ROOT ? STYLE_STRONG : STYLE_PLAIN,
                   CUT_START, text);
    if (file)
        put_file(canvas, (struct Box){box.y, end - file, file}, row->now);
}

static void draw_branch(struct Ui *ui, int y, const struct Branch *branch)
{
    static const char *const words[] = {
        [BRANCH_CALLERS] = "CALLERS, whom its time is for",
        [BRANCH_CALLEES] = "CALLEES, where its time goes",
        [BRANCH_SELF] = "(itself)",
        [BRANCH_BOTTOM] = "(nobody: the bottom of a stack)",
        [BRANCH_OTHERS] = "(others, each too small)",
    };
    struct Canvas *canvas = &ui->canvas;
    struct Box box = {y, 17, canvas->width - 18};
    int end = box.x + box.width;
    int x = put_limbs(canvas, y, box.x, end, branch);
    put_share(canvas, (struct Box){y, 2, 6}, &ui->callers.window,
              branch->share);
    put_part(canvas, (struct Box){y, 9, 6}, branch->part);
    if (branch->kind == BRANCH_FUNCTION || branch->kind == BRANCH_ROOT)
        put_function(ui, box, x, branch);
    else
        Canvas_fit(canvas, (struct Box){y, x, end - x}, STYLE_FAINT, CUT_END,
                   words[branch->kind]);
}

static void draw_title(struct Ui *ui)
{
    const struct Row *row = Model_row_of(&ui->model, ui->callers.tree.root);
    const struct CallersState *state = &ui->callers;
    const struct Window *window = &state->window;
    char number[NUMBER_MAX], text[WINDOW_TEXT], name[256];
    struct Strip strip;
    Strip_init(&strip);
    Strip_item(&strip, 0);
    Strip_add(&strip, STYLE_STRONG, "Callers and callees");
    if (row && row->now) {
        const struct Function *now = row->now;
        Text_clean(name, sizeof name,
                   Text_tail(Column_text_key(COLUMN_FUNCTION, row), 240));
        Strip_item(&strip, 1);
        Strip_add(&strip, STYLE_ACCENT, "%s", name);
        Strip_flex(&strip, 16);
        struct CallTotal all =
            Tree_total(now, state->own ? &state->calls : NULL);
        if (Window_share(number, window, all.total)) {
            Strip_item(&strip, 3);
            Strip_add(&strip, STYLE_FAINT, "with callees ");
            Strip_add(&strip, STYLE_PLAIN, "%s", number);
            Strip_add(&strip, STYLE_FAINT, " of a core");
            if (Window_share(number, window, all.self)) {
                Strip_add(&strip, STYLE_FAINT, ", by itself ");
                Strip_add(&strip, STYLE_PLAIN, "%s", number);
            }
        }
        Strip_item(&strip, 2);
        Strip_add(&strip, STYLE_FAINT,
                  state->own ? "running" : "running or waiting");
        if (*Window_text(text, window))
            Strip_add(&strip, STYLE_FAINT, ", over %s", text);
        if (state->period != PERIOD_LATELY)
            Strip_add(&strip, STYLE_FAINT, "%s",
                      state->own
                          ? History_about(&ui->flame.history, state->period)
                          : ", no other yet");
        Strip_item(&strip, 4);
        Strip_add(&strip, STYLE_FAINT, "PART: of the function it hangs on");
    }
    Strip_draw(&strip, &ui->canvas,
               (struct Box){ui->layout.title_y, 1, ui->canvas.width - 2}, 3);
}

static void draw_nothing(struct Ui *ui)
{
    const struct Snapshot *now = ui->model.snapshot;
    struct Box box = {ui->layout.body_y, 1, ui->canvas.width - 2};
    const char *text = "No function is selected.";
    bool sampled = !now || isfinite(now->sampler_hz);
    if (!sampled)
        text = "Who calls whom is sampled, and no sampler runs.";
    else if (ui->callers.tree.root)
        text = "This function is not listed any more.";
    Canvas_fit(&ui->canvas, box, STYLE_FAINT, CUT_END, text);
    box.y++;
    if (!sampled && now->sampler_trouble)
        Canvas_fit(&ui->canvas, box, STYLE_ALERT, CUT_END,
                   now->sampler_trouble);
}

void ViewCallers_show(struct Ui *ui, const struct Status *status)
{
    struct CallersState *state = &ui->callers;
    struct Canvas *canvas = &ui->canvas;
    const struct Layout *layout = &ui->layout;
    int y = layout->table_y;
    Header_draw_process(canvas, &ui->model, status);
    CallersState_build(state, &ui->flame, &ui->model, layout->body_height);
    draw_title(ui);
    Canvas_paint(canvas, (struct Box){y, 0, canvas->width}, STYLE_HEAD);
    // Not SHARE, which is without waiting.
    Canvas_fit_right(canvas, (struct Box){y, 2, 6}, STYLE_HEAD, "TIME");
    Canvas_fit_right(canvas, (struct Box){y, 9, 6}, STYLE_HEAD, "PART");
    Canvas_put(canvas, y, 17, canvas->width, STYLE_HEAD, "FUNCTION");
    if (!state->tree.count || !ui->model.sampled) {
        draw_nothing(ui);
        return;
    }
    for (int i = 0; i < layout->body_height; i++) {
        long index = state->list.top + i;
        if (index >= state->list.count)
            break;
        draw_branch(ui, layout->body_y + i, &state->tree.branches[index]);
        if (index != state->list.selected)
            continue;
        Canvas_put(canvas, layout->body_y + i, 0, 1, STYLE_ACCENT, "▸");
        Canvas_select(canvas,
                      (struct Box){layout->body_y + i, 0, canvas->width});
    }
}

// --- Keys

bool ViewCallers_find(struct Ui *ui, int step, bool here)
{
    struct CallersState *state = &ui->callers;
    long count = (long)state->tree.count;
    for (long away = here ? 0 : 1; away <= count && count; away++) {
        long index = (state->list.selected + step * away + 2 * count) % count;
        const struct Branch *branch = &state->tree.branches[index];
        const struct Row *row =
            branch->id ? Model_row_of(&ui->model, branch->id) : NULL;
        if (!row ||
            !Text_has(Column_text_key(COLUMN_FUNCTION, row), ui->model.search))
            continue;
        List_select(&state->list, index);
        CallersState_pin(state);
        return true;
    }
    return false;
}

// False: the one in the middle is opened as everywhere.
static bool go(struct Ui *ui)
{
    struct CallersState *state = &ui->callers;
    const struct Branch *branch = CallersState_selected(state);
    if (!branch || branch->kind == BRANCH_ROOT)
        return false;
    if (branch->kind != BRANCH_FUNCTION ||
        !Model_row_of(&ui->model, branch->id)) {
        Ui_say(ui, true, "There is no function to go to on this line.");
        return true;
    }
    CallersState_remember(state);
    go_to(ui, branch->id);
    return true;
}

static bool go_back(struct Ui *ui)
{
    struct CallersState *state = &ui->callers;
    if (!state->depth)
        return false;
    go_to(ui, state->way[--state->depth]);
    return true;
}

static void unfold(struct Ui *ui)
{
    struct CallersState *state = &ui->callers;
    const struct Branch *branch = CallersState_selected(state);
    if (branch && branch->again)
        Ui_say(ui, true, "It calls itself: it stands above already.");
    else if (branch && branch->open)
        List_select(&state->list, state->list.selected + 1);
    else if (!branch || !Tree_toggle(&state->tree, branch))
        Ui_say(ui, true, "There is nothing to unfold on this line.");
}

// Folds the branch, or goes to the one that it hangs on, or back.
static bool fold(struct Ui *ui)
{
    struct CallersState *state = &ui->callers;
    const struct Branch *branch = CallersState_selected(state);
    if (!branch || branch->depth == 0)
        return go_back(ui);
    if (branch->open)
        return Tree_toggle(&state->tree, branch);
    for (long i = state->list.selected; i-- > 0;)
        if (state->tree.branches[i].depth < branch->depth) {
            List_select(&state->list, i);
            break;
        }
    return true;
}

static void click(struct Ui *ui, int y)
{
    struct CallersState *state = &ui->callers;
    long index = List_at(&state->list, y - ui->layout.body_y);
    if (index < 0)
        return;
    if (index == state->list.selected)
        unfold(ui);
    else
        List_select(&state->list, index);
}

bool ViewCallers_press(struct Ui *ui, int request, uint32_t key)
{
    struct CallersState *state = &ui->callers;
    bool done = true;
    if (request == CALLERS_PERIOD) {
        state->period = (state->period + 1) % PERIODS;
        ViewCallers_want(ui);
        return true;
    }
    if (!state->tree.count)
        return false;
    if (request == CALLERS_GO)
        return go(ui);
    if (request == REQUEST_BACK)
        return go_back(ui);
    if (request == CALLERS_UNFOLD) {
        unfold(ui);
    } else if (request == CALLERS_FOLD) {
        uint64_t root = state->tree.root;
        done = fold(ui);
        if (!done)
            return Navigation_back(ui);
        if (root != state->tree.root)
            return true; // it is selected by its key
    } else if (request == REQUEST_CLICK) {
        click(ui, Key_y(key));
    } else {
        done = List_move(&state->list, request);
    }
    if (done)
        CallersState_pin(state);
    return done;
}
