// SPDX-License-Identifier: MIT
// See view_callers.h.
#include "tui/views/view_callers.h"

#include "tui/app/screen.h"
#include "tui/model/column.h"
#include "tui/screen/gauge.h"
#include "tui/screen/strip.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/header.h"

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

void ViewCallers_release(struct CallersView *view)
{
    Tree_release(&view->tree);
    Calls_release(&view->calls);
}

// The snapshot has who called whom lately. For another window the flame graph's
// stacks are counted, and the answers of the last minute are that view's.
void ViewCallers_want(struct Screen *screen)
{
    if (screen->callers.period != PERIOD_LATELY)
        ViewFlame_want(screen);
}

void ViewCallers_reset(struct Screen *screen)
{
    if (screen->view == VIEW_CALLERS)
        screen->callers.period = PERIOD_SINCE;
}

static void count(struct Screen *screen)
{
    struct CallersView *view = &screen->callers;
    const struct FlameView *flame = &screen->flame;
    struct FlameShare *shares = NULL;
    const struct Moment *then =
        History_begin(&flame->history, flame->now.at_s, view->period);
    if (view->period != PERIOD_LATELY && flame->tree.count)
        shares = FlameShares_since(then, &flame->now);
    view->own = shares && Calls_count(&view->calls, flame->tree.table, shares,
                                      flame->now.count) == 0;
    double running = 0; // of all samples, also in what is not traced
    for (size_t i = 0; view->own && i < flame->now.count; i++)
        running += shares[i].self;
    free(shares);
    view->window = screen->model.window;
    if (!view->own)
        return;
    view->window = (struct Window){flame->now.at_s - then->at_s,
                                   flame->now.samples - then->samples, NAN};
    if (running > 0)
        view->window.per_share = view->window.samples / running;
}

static void go_to(struct Screen *screen, uint64_t id)
{
    Tree_root(&screen->callers.tree, id);
    screen->callers.selected = 1; // the middle's
    // The main screen stays with it, if it is there at all.
    Model_choose(&screen->model, id);
}

void ViewCallers_open(struct Screen *screen, uint64_t function)
{
    screen->callers.depth = 0;
    go_to(screen, function);
}

// Lays the tree out, and finds the selected branch in it again.
static void build(struct Screen *screen)
{
    struct CallersView *view = &screen->callers;
    count(screen);
    if (!screen->model.snapshot || Tree_build(&view->tree, &screen->model,
                                              view->own ? &view->calls : NULL))
        view->tree.count = 0;
    for (size_t i = 0; i < view->tree.count; i++)
        if (view->tree.branches[i].key == view->selected)
            view->list.selected = (long)i;
    List_fit(&view->list, (long)view->tree.count, screen->layout.body_height);
}

static const struct Branch *selected(const struct CallersView *view)
{
    size_t index = (size_t)view->list.selected;
    return index < view->tree.count ? &view->tree.branches[index] : NULL;
}

uint64_t ViewCallers_function(const struct Screen *screen)
{
    const struct CallersView *view = &screen->callers;
    const struct Branch *branch = selected(view);
    return branch ? branch->id : view->tree.root;
}

static void pin(struct CallersView *view)
{
    const struct Branch *branch = selected(view);
    if (branch)
        view->selected = branch->key;
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

static void put_function(struct Screen *screen, struct Box box, int x,
                         const struct Branch *branch)
{
    struct Canvas *canvas = &screen->canvas;
    const struct Row *row = Model_row_of(&screen->model, branch->id);
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

static void draw_branch(struct Screen *screen, int y,
                        const struct Branch *branch)
{
    static const char *const words[] = {
        [BRANCH_CALLERS] = "CALLERS, whom its time is for",
        [BRANCH_CALLEES] = "CALLEES, where its time goes",
        [BRANCH_SELF] = "(itself)",
        [BRANCH_BOTTOM] = "(nobody: the bottom of a stack)",
        [BRANCH_OTHERS] = "(others, each too small)",
    };
    struct Canvas *canvas = &screen->canvas;
    struct Box box = {y, 17, canvas->width - 18};
    int end = box.x + box.width;
    int x = put_limbs(canvas, y, box.x, end, branch);
    put_share(canvas, (struct Box){y, 2, 6}, &screen->callers.window,
              branch->share);
    put_part(canvas, (struct Box){y, 9, 6}, branch->part);
    if (branch->kind == BRANCH_FUNCTION || branch->kind == BRANCH_ROOT)
        put_function(screen, box, x, branch);
    else
        Canvas_fit(canvas, (struct Box){y, x, end - x}, STYLE_FAINT, CUT_END,
                   words[branch->kind]);
}

static void draw_title(struct Screen *screen)
{
    const struct Row *row =
        Model_row_of(&screen->model, screen->callers.tree.root);
    const struct CallersView *view = &screen->callers;
    const struct Window *window = &view->window;
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
        struct CallTotal all = Tree_total(now, view->own ? &view->calls : NULL);
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
                  view->own ? "running" : "running or waiting");
        if (*Window_text(text, window))
            Strip_add(&strip, STYLE_FAINT, ", over %s", text);
        if (view->period != PERIOD_LATELY)
            Strip_add(&strip, STYLE_FAINT, "%s",
                      view->own
                          ? History_about(&screen->flame.history, view->period)
                          : ", no other yet");
        Strip_item(&strip, 4);
        Strip_add(&strip, STYLE_FAINT, "PART: of the function it hangs on");
    }
    Strip_draw(
        &strip, &screen->canvas,
        (struct Box){screen->layout.title_y, 1, screen->canvas.width - 2}, 3);
}

static void draw_nothing(struct Screen *screen)
{
    const struct Snapshot *now = screen->model.snapshot;
    struct Box box = {screen->layout.body_y, 1, screen->canvas.width - 2};
    const char *text = "No function is selected.";
    bool sampled = !now || isfinite(now->sampler_hz);
    if (!sampled)
        text = "Who calls whom is sampled, and no sampler runs.";
    else if (screen->callers.tree.root)
        text = "This function is not listed any more.";
    Canvas_fit(&screen->canvas, box, STYLE_FAINT, CUT_END, text);
    box.y++;
    if (!sampled && now->sampler_trouble)
        Canvas_fit(&screen->canvas, box, STYLE_ALERT, CUT_END,
                   now->sampler_trouble);
}

void ViewCallers_show(struct Screen *screen, const struct Status *status)
{
    struct CallersView *view = &screen->callers;
    struct Canvas *canvas = &screen->canvas;
    const struct Layout *layout = &screen->layout;
    int y = layout->table_y;
    Header_draw_process(canvas, &screen->model, status);
    build(screen);
    draw_title(screen);
    Canvas_paint(canvas, (struct Box){y, 0, canvas->width}, STYLE_HEAD);
    // Not SHARE, which is without waiting.
    Canvas_fit_right(canvas, (struct Box){y, 2, 6}, STYLE_HEAD, "TIME");
    Canvas_fit_right(canvas, (struct Box){y, 9, 6}, STYLE_HEAD, "PART");
    Canvas_put(canvas, y, 17, canvas->width, STYLE_HEAD, "FUNCTION");
    if (!view->tree.count || !screen->model.sampled) {
        draw_nothing(screen);
        return;
    }
    for (int i = 0; i < layout->body_height; i++) {
        long index = view->list.top + i;
        if (index >= view->list.count)
            break;
        draw_branch(screen, layout->body_y + i, &view->tree.branches[index]);
        if (index != view->list.selected)
            continue;
        Canvas_put(canvas, layout->body_y + i, 0, 1, STYLE_ACCENT, "▸");
        Canvas_select(canvas,
                      (struct Box){layout->body_y + i, 0, canvas->width});
    }
}

// --- Keys

bool ViewCallers_find(struct Screen *screen, int step, bool here)
{
    struct CallersView *view = &screen->callers;
    long count = (long)view->tree.count;
    for (long away = here ? 0 : 1; away <= count && count; away++) {
        long index = (view->list.selected + step * away + 2 * count) % count;
        const struct Branch *branch = &view->tree.branches[index];
        const struct Row *row =
            branch->id ? Model_row_of(&screen->model, branch->id) : NULL;
        if (!row || !Text_has(Column_text_key(COLUMN_FUNCTION, row),
                              screen->model.search))
            continue;
        List_select(&view->list, index);
        pin(view);
        return true;
    }
    return false;
}

// False: the one in the middle is opened as everywhere.
static bool go(struct Screen *screen)
{
    struct CallersView *view = &screen->callers;
    const struct Branch *branch = selected(view);
    if (!branch || branch->kind == BRANCH_ROOT)
        return false;
    if (branch->kind != BRANCH_FUNCTION ||
        !Model_row_of(&screen->model, branch->id)) {
        Screen_say(screen, true, "There is no function to go to on this line.");
        return true;
    }
    if (view->depth == CALLERS_WAY) // the oldest is forgotten
        memmove(view->way, view->way + 1,
                (size_t)--view->depth * sizeof *view->way);
    view->way[view->depth++] = view->tree.root;
    go_to(screen, branch->id);
    return true;
}

static bool go_back(struct Screen *screen)
{
    struct CallersView *view = &screen->callers;
    if (!view->depth)
        return false;
    go_to(screen, view->way[--view->depth]);
    return true;
}

static void unfold(struct Screen *screen)
{
    struct CallersView *view = &screen->callers;
    const struct Branch *branch = selected(view);
    if (branch && branch->again)
        Screen_say(screen, true, "It calls itself: it stands above already.");
    else if (branch && branch->open)
        List_select(&view->list, view->list.selected + 1);
    else if (!branch || !Tree_toggle(&view->tree, branch))
        Screen_say(screen, true, "There is nothing to unfold on this line.");
}

// Folds the branch, or goes to the one that it hangs on, or back.
static bool fold(struct Screen *screen)
{
    struct CallersView *view = &screen->callers;
    const struct Branch *branch = selected(view);
    if (!branch || branch->depth == 0)
        return go_back(screen);
    if (branch->open)
        return Tree_toggle(&view->tree, branch);
    for (long i = view->list.selected; i-- > 0;)
        if (view->tree.branches[i].depth < branch->depth) {
            List_select(&view->list, i);
            break;
        }
    return true;
}

static void click(struct Screen *screen, int y)
{
    struct CallersView *view = &screen->callers;
    long index = List_at(&view->list, y - screen->layout.body_y);
    if (index < 0)
        return;
    if (index == view->list.selected)
        unfold(screen);
    else
        List_select(&view->list, index);
}

bool ViewCallers_press(struct Screen *screen, int request, uint32_t key)
{
    struct CallersView *view = &screen->callers;
    bool done = true;
    if (request == CALLERS_PERIOD) {
        view->period = (view->period + 1) % PERIODS;
        ViewCallers_want(screen);
        return true;
    }
    if (!view->tree.count)
        return false;
    if (request == CALLERS_GO)
        return go(screen);
    if (request == REQUEST_BACK)
        return go_back(screen);
    if (request == CALLERS_UNFOLD) {
        unfold(screen);
    } else if (request == CALLERS_FOLD) {
        uint64_t root = view->tree.root;
        done = fold(screen);
        if (!done)
            return View_back(screen);
        if (root != view->tree.root)
            return true; // it is selected by its key
    } else if (request == REQUEST_CLICK) {
        click(screen, Key_y(key));
    } else {
        done = List_move(&view->list, request);
    }
    if (done)
        pin(view);
    return done;
}
