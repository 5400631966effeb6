// SPDX-License-Identifier: MIT
// See view_callers.h.
#include "tui/views/view_callers.h"

#include "tui/model/column.h"
#include "tui/text/text.h"
#include "tui/views/callers_title.h"
#include "tui/views/callers_tree.h"
#include "tui/views/header.h"
#include "tui/views/navigation.h"
#include "tui/views/ui.h"

#include <math.h>

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

// The snapshot has the call edges of the sampler's own window. For another
// window this view counts the stacks of the flame view, which keeps a minute of
// them.
void ViewCallers_want(struct Ui *ui)
{
    if (ui->callers.period != PERIOD_LATELY)
        FlameState_ask(&ui->flame, ui->feed, ui->model.snapshot);
}

static void go_to(struct Ui *ui, uint64_t id)
{
    CallersState_go_to(&ui->callers, id);
    // The main screen selects it, too, if it is there at all.
    Ui_choose(ui, id);
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
    CallersTitle_draw(ui);
    Canvas_paint(canvas, (struct Box){y, 0, canvas->width}, STYLE_HEAD);
    // Not SHARE: this column includes waiting, which SHARE does not.
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
        CallersTree_draw(ui, layout->body_y + i, &state->tree.branches[index]);
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
        List_go(&state->list, index);
        CallersState_pin(state);
        return true;
    }
    return false;
}

// False: Enter on the function in the middle opens it, as in other views.
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
        List_go(&state->list, state->list.selected + 1);
    else if (!branch || !Tree_toggle(&state->tree, branch))
        Ui_say(ui, true, "There is nothing to unfold on this line.");
}

// Folds the branch, or selects its parent, or goes back. False: there is
// nothing to go back to.
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
            List_go(&state->list, i);
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
        List_go(&state->list, index);
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
            return true; // the new middle is selected already
    } else if (request == REQUEST_CLICK) {
        click(ui, Key_y(key));
    } else {
        done = List_move(&state->list, request);
    }
    if (done)
        CallersState_pin(state);
    return done;
}
