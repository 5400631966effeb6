// SPDX-License-Identifier: MIT
#include "tui/views/view_callers.h"

#include "tui/model/column.h"
#include "tui/model/window.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/display.h"
#include "tui/views/navigation.h"
#include "tui/views/ui.h"

#include <math.h>
#include <stdio.h>

enum {
    CALLERS_GO = REQUEST_OWN,
    CALLERS_UNFOLD,
    CALLERS_FOLD,
    CALLERS_PERIOD,
    CALLERS_MODE
};

static const struct Binding KEYS[] = {
    BINDING(
        CALLERS_GO, 0,
        "the selected function comes to the middle; there, it opens annotate",
        NULL, "Go there", 2, PRESS_ENTER),
    BINDING(CALLERS_UNFOLD, 0, "unfold the selected function", NULL, "Unfold",
            3, PRESS_RIGHT),
    BINDING(CALLERS_FOLD, 0, "fold it, or go back", NULL, "Fold", 9,
            PRESS_LEFT),
    BINDING(CALLERS_PERIOD, 0,
            "another window: recent, 5 s, 60 s, since the last r or the start",
            NULL, "Window", 9, 'w'),
    BINDING(CALLERS_MODE, 0,
            "wall time, only the waits with their kinds, or CPU time", NULL,
            "Mode", 9, 'm'),
    {.request = 0},
};

// The snapshot has only call edges of the sampler's window, and only of CPU
// time and waits together. For another period or mode, the view uses stacks,
// which the flame view has stored for a minute.
static void want(struct Ui *ui)
{
    if (CallersState_needs_stacks(&ui->callers))
        FlameState_ask(&ui->flame, ui->feed, ui->model.snapshot);
}

static void go_to(struct Ui *ui, uint64_t id)
{
    Tree_root(&ui->callers.tree, id);
    ui->lists[VIEW_CALLERS].key = TREE_MIDDLE;
    // Also selects the function on the main screen, if the main screen shows
    // the function.
    Ui_choose(ui, id);
}

static void open_view(struct Ui *ui, uint64_t function)
{
    ui->callers.depth = 0;
    go_to(ui, function);
}

static const struct Branch *selected(const struct Ui *ui)
{
    const struct Tree *tree = &ui->callers.tree;
    size_t row = (size_t)ui->lists[VIEW_CALLERS].selected;
    return row < tree->count ? &tree->branches[row] : NULL;
}

static uint64_t selected_function(const struct Ui *ui)
{
    const struct Branch *branch = selected(ui);
    return branch ? branch->id : ui->callers.tree.root;
}

static void reset(struct Ui *ui)
{
    if (ui->view == VIEW_CALLERS)
        ui->callers.period = PERIOD_SINCE;
}

// --- The tree as rows

static const struct Branch *branch_at(const struct ListRows *rows, long row)
{
    const struct Ui *ui = rows->source;
    return &ui->callers.tree.branches[row];
}

// Returns the row of a branch's function. Returns NULL if the branch is not for
// a function, or if the snapshot does not list its function.
static const struct Row *function_of(const struct ListRows *rows,
                                     const struct Branch *branch)
{
    const struct Ui *ui = rows->source;
    return branch->id ? Model_row_of(&ui->model, branch->id) : NULL;
}

static uint64_t key_of(const struct ListRows *rows, long row)
{
    return branch_at(rows, row)->key;
}

static bool has_text(const struct ListRows *rows, long row, const char *text)
{
    const struct Row *function = function_of(rows, branch_at(rows, row));
    return function &&
           Text_has(Column_text_key(COLUMN_FUNCTION, function), text);
}

// Draws the lines of the tree, such as "│ ├─ ▸ ". Returns the screen column
// behind these lines.
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

static void draw_branch(struct Canvas *canvas, struct Box box,
                        const struct ListRows *rows, long row)
{
    static const char *const words[] = {
        [BRANCH_CALLERS] = "CALLERS, whom its time is for",
        [BRANCH_CALLEES] = "CALLEES, where its time goes",
        [BRANCH_SELF] = "(itself)",
        [BRANCH_BOTTOM] = "(nobody: the bottom of a stack)",
        [BRANCH_OTHERS] = "(others, each too small)",
        [BRANCH_FUNCTION] = "a function that is not listed",
        [BRANCH_ROOT] = "a function that is not listed",
    };
    const struct Branch *branch = branch_at(rows, row);
    const struct Row *function = function_of(rows, branch);
    char text[1024];
    int end = box.x + box.width;
    int x = put_limbs(canvas, box.y, box.x, end, branch);
    box = (struct Box){box.y, x, end - x};
    if (!function) {
        int kind = FlameWait_kind(branch->id);
        Canvas_fit(canvas, box, kind < 0 ? STYLE_FAINT : STYLE_PLAIN, CUT_END,
                   kind < 0 ? words[branch->kind]
                            : FlameTree_wait_name((unsigned)kind));
        return;
    }
    snprintf(text, sizeof text, "%s%s",
             Text_tail(Column_text_key(COLUMN_FUNCTION, function), 960),
             branch->again ? " (again)" : "");
    Canvas_fit(canvas, box,
               branch->kind == BRANCH_ROOT ? STYLE_STRONG : STYLE_PLAIN,
               CUT_START, text);
}

enum { TREE_TIME, TREE_PART, TREE_FUNCTION, TREE_FILE, TREE_COLUMNS };

static void write_branch(struct ListCell *cell, const struct ListRows *rows,
                         long row, int column)
{
    const struct Ui *ui = rows->source;
    const struct Branch *branch = branch_at(rows, row);
    const struct Row *function = function_of(rows, branch);
    char text[NUMBER_MAX];
    if (column == TREE_TIME)
        ListCell_share(cell, &ui->callers.window, branch->share);
    else if (column == TREE_PART)
        ListCell_put(cell, STYLE_FAINT, Window_plain_share(text, branch->part));
    else if (function)
        ListCell_place(cell, STYLE_FAINT, function->now->file,
                       function->now->line);
}

static struct ListRows rows_of(const struct Ui *ui)
{
    static const struct ListColumn columns[TREE_COLUMNS] = {
        // The title is not SHARE, because this column also contains waiting and
        // the column SHARE does not.
        [TREE_TIME] = LIST_COLUMN("TIME", 6, 2),
        [TREE_PART] = LIST_COLUMN("PART", 6, 1),
        [TREE_FUNCTION] = LIST_COLUMN("FUNCTION", 20, 2, .grows = 60,
                                      .left = true, .draw = draw_branch),
        [TREE_FILE] = LIST_COLUMN(NULL, 28, 2, .importance = 1, .room = 42,
                                  .grows = 40, .path = true),
    };
    return (struct ListRows){
        .source = ui,
        .count = ui->model.sampled ? (long)ui->callers.tree.count : 0,
        .columns = columns,
        .column_count = TREE_COLUMNS,
        .key = key_of,
        .has = has_text,
        .write = write_branch};
}

// --- Drawing

// Returns which times are shown in the tree.
static const char *time_of(const struct Ui *ui)
{
    static const char *const words[] = {"running", "running or waiting",
                                        "waiting"};
    enum FlameMode mode = CallersState_mode(&ui->callers);
    if (!ui->callers.own)
        return words[FLAME_WALL];
    if (mode == FLAME_WALL && !ui->flame.tree.table->wait_count)
        return words[FLAME_CPU];
    return words[mode];
}

static void draw_title(struct Ui *ui)
{
    const struct Row *row = Model_row_of(&ui->model, ui->callers.tree.root);
    const struct CallersState *state = &ui->callers;
    const struct Window *window = &state->window;
    char number[NUMBER_MAX], text[WINDOW_TEXT], name[256];
    struct Strip strip;
    Strip_init(&strip);
    Strip_put(&strip, 0, STYLE_STRONG, "Callers and callees");
    if (row && row->now) {
        const struct Function *now = row->now;
        Text_clean(name, sizeof name,
                   Text_tail(Column_text_key(COLUMN_FUNCTION, row), 240));
        Strip_put(&strip, 1, STYLE_ACCENT, "%s", name);
        Strip_flex(&strip, 16);
        struct CallTotal all =
            Tree_total(now, state->own ? &state->calls : NULL);
        if (Window_share(number, window, all.total)) {
            Strip_label(&strip, 3, "with callees", "%s", number);
            Strip_add(&strip, STYLE_FAINT, " of a core");
            if (Window_share(number, window, all.self + all.waits)) {
                Strip_add(&strip, STYLE_FAINT, ", by itself ");
                Strip_add(&strip, STYLE_PLAIN, "%s", number);
            }
        }
        Strip_put(&strip, 2, STYLE_FAINT, "%s", time_of(ui));
        if (*Window_text(text, window))
            Strip_add(&strip, STYLE_FAINT, ", over %s", text);
        else if (state->own && isfinite(window->s))
            Strip_add(&strip, STYLE_FAINT, ", over %.0f s",
                      fmin(window->s, 1e9));
        if (CallersState_needs_stacks(state))
            Strip_add(&strip, STYLE_FAINT, "%s",
                      state->own && state->period == PERIOD_LATELY ? ""
                      : state->own
                          ? History_about(&ui->flame.history, state->period)
                          : ", no other yet");
        Strip_put(&strip, 4, STYLE_FAINT, "PART: of the function it hangs on");
    }
    Ui_draw_title(ui, &strip);
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

// Draws the reason why the function in the middle has neither callers nor
// callees. The tree of such a function has only the function and two headings.
static void draw_reason(struct Ui *ui)
{
    const struct Row *row = Model_row_of(&ui->model, ui->callers.tree.root);
    struct Box box = {ui->layout.table_y + 5, 3, ui->canvas.width - 4};
    bool never = row && row->now && !row->now->samples;
    if (ui->layout.body_height < 7)
        return;
    Canvas_fit(&ui->canvas, box, STYLE_FAINT, CUT_END,
               never
                   ? "No sample has found this function: its calls are too "
                     "short or too rare."
                   : "No sample of this window and mode has found a caller or "
                     "a callee.");
    box.y++;
    Canvas_fit(&ui->canvas, box, STYLE_FAINT, CUT_END,
               never ? "Its row has counted calls and cycles. Samples come "
                       "with time."
                     : "w takes a longer window, and m another mode.");
}

static void draw(struct Ui *ui, const struct Status *status)
{
    (void)status;
    struct Canvas *canvas = &ui->canvas;
    const struct Layout *layout = &ui->layout;
    CallersState_build(&ui->callers, &ui->flame, &ui->model);
    draw_title(ui);
    struct ListRows rows = rows_of(ui);
    List_draw(&ui->lists[VIEW_CALLERS], &rows, canvas,
              (struct Box){layout->table_y, 0, canvas->width},
              layout->body_height);
    if (!rows.count)
        draw_nothing(ui);
    else if (ui->callers.tree.count == 3)
        draw_reason(ui);
}

// --- Keys

static bool find(struct Ui *ui, int step, bool here)
{
    struct ListRows rows = rows_of(ui);
    return List_find(&ui->lists[VIEW_CALLERS], &rows, ui->model.search, step,
                     here);
}

// Puts the selected function in the middle. Returns false if this function is
// already in the middle. If so, Enter opens another view.
static bool go(struct Ui *ui)
{
    const struct Branch *branch = selected(ui);
    if (!branch || branch->kind == BRANCH_ROOT)
        return false;
    if (branch->kind != BRANCH_FUNCTION ||
        !Model_row_of(&ui->model, branch->id)) {
        Ui_say(ui, true, "There is no function to go to on this line.");
        return true;
    }
    CallersState_remember(&ui->callers);
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

static void select_row(struct Ui *ui, long row)
{
    struct ListRows rows = rows_of(ui);
    List_select(&ui->lists[VIEW_CALLERS], &rows, row);
}

static void unfold(struct Ui *ui)
{
    const struct Branch *branch = selected(ui);
    if (branch && branch->again)
        Ui_say(ui, true, "It calls itself: it stands above already.");
    else if (branch && branch->open)
        select_row(ui, ui->lists[VIEW_CALLERS].selected + 1);
    else if (!branch || !Tree_toggle(&ui->callers.tree, branch))
        Ui_say(ui, true, "There is nothing to unfold on this line.");
}

// Folds an unfolded branch, or selects the parent of a folded branch. On the
// function in the middle and on a heading, goes back to the previous function
// or view. Returns false if there is no previous function or view.
static bool fold(struct Ui *ui)
{
    struct Tree *tree = &ui->callers.tree;
    const struct Branch *branch = selected(ui);
    if (!branch || branch->depth == 0)
        return go_back(ui) || Navigation_back(ui);
    if (branch->open)
        return Tree_toggle(tree, branch);
    for (long i = ui->lists[VIEW_CALLERS].selected; i-- > 0;)
        if (tree->branches[i].depth < branch->depth) {
            select_row(ui, i);
            break;
        }
    return true;
}

static bool press(struct Ui *ui, int request, uint32_t key)
{
    struct CallersState *state = &ui->callers;
    if (request == CALLERS_PERIOD) {
        state->period = (state->period + 1) % PERIODS;
        want(ui);
        return true;
    }
    if (request == CALLERS_MODE) {
        state->modes = (state->modes + 1) % FLAME_MODES;
        FlameState_open(&ui->flame, ui->model.snapshot);
        want(ui);
        return true;
    }
    if (!state->tree.count)
        return false;
    if (request == CALLERS_GO)
        return go(ui);
    if (request == REQUEST_BACK)
        return go_back(ui);
    if (request == CALLERS_FOLD)
        return fold(ui);
    struct ListRows rows = rows_of(ui);
    enum ListAnswer answer =
        List_press(&ui->lists[VIEW_CALLERS], &rows, request, key);
    if (answer == LIST_OPENS || request == CALLERS_UNFOLD)
        unfold(ui);
    return answer != LIST_IGNORES || request == CALLERS_UNFOLD;
}

const struct View CALLERS_VIEW = {
    .name = "Callers",
    .opens =
        BINDING(0, CAN_FUNCTION, "callers and callees of the selected function",
                NULL, "Callers", 8, 'c'),
    .own = KEYS,
    .can = CAN_SEARCH | CAN_FUNCTION | CAN_RESET,
    .open = open_view,
    .want = want,
    .draw = draw,
    .reset = reset,
    .press = press,
    .find = find,
    .function = selected_function};
