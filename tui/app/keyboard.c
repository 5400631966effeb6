// SPDX-License-Identifier: MIT
#include "tui/app/keyboard.h"

#include "tui/app/question.h"
#include "tui/model/column.h"
#include "tui/screen/keymap.h"
#include "tui/text/number.h"
#include "tui/text/text.h"
#include "tui/views/navigation.h"
#include "tui/views/view_threads.h"

#include <stdio.h>

// --- Requests to the process

static void rearm(struct Ui *ui)
{
    uint64_t id = Navigation_function(ui);
    const struct Row *row = Model_row_of(&ui->model, id);
    char text[256], name[160];
    Text_clean(name, sizeof name, Column_text_key(COLUMN_FUNCTION, row));
    snprintf(text, sizeof text, "Re-arming %s…", name);
    Ui_say_asked(ui, Feed_rearm(ui->feed, id), text);
}

// Plays a recording faster (step -1) or slower (step 1).
static void change_speed(struct Ui *ui, int step)
{
    if (Feed_is_past(ui->feed)) {
        Ui_say(ui, true, "All of it is shown at once: [ and ] choose a part.");
        return;
    }
    double speed = ui->feed->speed * (step < 0 ? 2 : .5);
    if (speed >= 1. / 16 && speed <= 64)
        Feed_speed(ui->feed, speed);
    Ui_say(ui, false, "The recording plays at %gx.", ui->feed->speed);
}

static void change_rate(struct Ui *ui, int step)
{
    static const double rates[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60};
    const int count = sizeof rates / sizeof rates[0];
    double now = ui->feed->rate_s, next = now;
    char text[64], number[NUMBER_MAX];
    for (int i = 0; i < count; i++) {
        if (step > 0 && rates[i] > now * 1.001) {
            next = rates[i];
            break;
        }
        if (step < 0 && rates[i] < now * 0.999)
            next = rates[i];
    }
    snprintf(text, sizeof text, "A snapshot every %s",
             Number_seconds(number, next));
    Ui_say_asked(ui, Feed_rate(ui->feed, next), text);
}

static void ask_process(struct Ui *ui, int request)
{
    switch (request) {
    case REQUEST_REARM:
        rearm(ui);
        break;
    case REQUEST_REFRESH:
        Ui_say_asked(ui, Feed_refresh(ui->feed), "A snapshot is made now.");
        break;
    case REQUEST_REARM_ALL:
        Ui_say_asked(ui, Feed_rearm(ui->feed, 0), "Re-arming all functions…");
        break;
    case REQUEST_BUDGET:
        Question_open(ui, PROMPT_BUDGET);
        break;
    case REQUEST_EXPORT:
        if (ui->feed->link.fleet)
            Ui_say(ui, true,
                   "A file is made of one process: p, and Enter on a worker, "
                   "shows it alone.");
        else
            Question_open(ui, PROMPT_EXPORT);
        break;
    }
}

// --- Actions of the viewer itself

static void toggle_units(struct Ui *ui)
{
    const struct Snapshot *snapshot = ui->model.snapshot;
    if (snapshot && snapshot->tsc_hz > 0)
        ui->ns = !ui->ns;
    else
        Ui_say(ui, true, "The process does not say how fast its clock is.");
}

static void reset(struct Ui *ui)
{
    Model_reset(&ui->model);
    for (int i = 0; i < VIEW_COUNT; i++)
        if (ui->views[i]->reset)
            ui->views[i]->reset(ui);
    Ui_say(ui, false,
           "Calls, cycles and events count from now on; AVG, P50 and P99 do "
           "not.");
}

static void toggle_baseline(struct Ui *ui)
{
    Model_baseline(&ui->model);
    Ui_say(ui, false,
           ui->model.baseline
               ? "Columns show the change since now. b again drops it."
               : "The baseline is dropped.");
}

static void go_back(struct Ui *ui)
{
    if (Feed_is_exporting(ui->feed)) {
        Feed_cancel(ui->feed);
        Ui_say(ui, false, "Stopping the export…");
        return;
    }
    if (Navigation_back(ui))
        return;
    if (*ui->model.filter)
        Model_filter(&ui->model, "");
    else if (ui->model.one_thread)
        ViewThreads_choose(ui, NULL);
    else
        *ui->model.search = 0;
}

// --- Keys

static void carry_out(struct Ui *ui, int request)
{
    switch (request) {
    case REQUEST_SEARCH:
        Question_open(ui, PROMPT_SEARCH);
        break;
    case REQUEST_SEARCH_NEXT:
    case REQUEST_SEARCH_PREVIOUS:
        Question_find(ui, request == REQUEST_SEARCH_NEXT ? 1 : -1);
        break;
    case REQUEST_FILTER:
        Question_open(ui, PROMPT_FILTER);
        break;
    case REQUEST_OWN_CODE:
        Model_set_own(&ui->model, !ui->model.own_only);
        break;
    case REQUEST_BACK:
        go_back(ui);
        break;
    case REQUEST_UNITS:
        toggle_units(ui);
        break;
    case REQUEST_PAUSE:
        Feed_pause(ui->feed, !ui->feed->paused);
        break;
    case REQUEST_FASTER:
    case REQUEST_SLOWER:
        (Feed_is_replay(ui->feed) ? change_speed : change_rate)(
            ui, request == REQUEST_FASTER ? -1 : 1);
        break;
    case REQUEST_RESET:
        reset(ui);
        break;
    case REQUEST_BASELINE:
        toggle_baseline(ui);
        break;
    case REQUEST_FROM:
        Question_open(ui, PROMPT_FROM);
        break;
    case REQUEST_TO:
        Question_open(ui, PROMPT_TO);
        break;
    case REQUEST_SAVE:
        Question_open(ui, PROMPT_SAVE);
        break;
    case REQUEST_REDRAW:
        ui->redraw = true;
        break;
    case REQUEST_PROCESSES:
        ui->leave = ui->quit = true;
        break;
    case REQUEST_CLOSE:
    case REQUEST_QUIT:
        ui->quit = request == REQUEST_QUIT || !Navigation_back(ui);
        break;
    default:
        ask_process(ui, request);
    }
}

static void press(struct Ui *ui, uint32_t key)
{
    const struct View *view = Navigation_front(ui);
    int request = View_request(view, key);
    enum ViewId opened = View_opened_by(ui->views, key);
    // During a search, `n` goes to the next match.
    if (request == REQUEST_SEARCH_NEXT && *ui->model.search)
        opened = VIEW_COUNT;
    const struct Binding *binding =
        opened == VIEW_COUNT ? Keymap_find(key) : &ui->views[opened]->opens;
    if (view->press(ui, request, key) || !binding)
        return;
    if (opened == ui->view)
        Navigation_back(ui);
    else if (Navigation_refuses(ui, binding))
        return;
    else if (opened != VIEW_COUNT)
        Navigation_open(ui, opened);
    else
        carry_out(ui, request);
}

void Keyboard_press(struct Ui *ui, uint32_t key)
{
    int request = Keymap_request(key);
    ui->message[0] = 0;
    if (ui->layout.too_small)
        ui->quit |= request == REQUEST_CLOSE || request == REQUEST_QUIT;
    else if (ui->prompt.kind != PROMPT_NONE)
        Question_press(ui, key);
    else
        press(ui, key);
    if (Navigation_front(ui)->want)
        Navigation_front(ui)->want(ui);
}
