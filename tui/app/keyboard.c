// SPDX-License-Identifier: MIT
// See keyboard.h.
#include "tui/app/keyboard.h"

#include "tui/app/question.h"
#include "tui/model/column.h"
#include "tui/screen/keymap.h"
#include "tui/text/number.h"
#include "tui/text/text.h"

#include <stdio.h>

// --- Requests to the process

static void rearm(struct Screen *screen)
{
    uint64_t id = View_function(screen);
    const struct Row *row = Model_row_of(&screen->model, id);
    char text[256], name[160];
    Text_clean(name, sizeof name, Column_text_key(COLUMN_FUNCTION, row));
    snprintf(text, sizeof text, "Re-arming %s…", name);
    Screen_asked(screen, Feed_rearm(screen->feed, id), text);
}

// A recording is played faster or slower.
static void change_speed(struct Screen *screen, int step)
{
    double speed = screen->feed->speed * (step < 0 ? 2 : .5);
    if (speed >= 1. / 16 && speed <= 64)
        Feed_speed(screen->feed, speed);
    Screen_say(screen, false, "The recording plays at %gx.",
               screen->feed->speed);
}

static void change_rate(struct Screen *screen, int step)
{
    static const double rates[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60};
    const int count = sizeof rates / sizeof rates[0];
    double now = screen->feed->rate_s, next = now;
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
    Screen_asked(screen, Feed_rate(screen->feed, next), text);
}

// --- What the viewer does by itself

static void toggle_units(struct Screen *screen)
{
    const struct Snapshot *snapshot = screen->model.snapshot;
    if (snapshot && snapshot->tsc_hz > 0)
        screen->ns = !screen->ns;
    else
        Screen_say(screen, true,
                   "The process does not say how fast its clock is.");
}

static void go_back(struct Screen *screen)
{
    for (int i = 0; i < FEED_PENDING; i++) {
        const struct FeedPending *pending = &screen->feed->pending[i];
        if (pending->number && pending->type == MESSAGE_EXPORT) {
            Screen_asked(screen, Feed_cancel(screen->feed),
                         "Stopping the export…");
            return;
        }
    }
    if (View_back(screen))
        return;
    if (*screen->model.filter)
        Model_filter(&screen->model, "");
    else if (screen->model.one_thread)
        ViewThreads_choose(screen, NULL);
}

// --- Keys

static void carry_out(struct Screen *screen, int request)
{
    switch (request) {
    case REQUEST_SEARCH:
        Question_open(screen, PROMPT_SEARCH);
        break;
    case REQUEST_SEARCH_NEXT:
        Question_find(screen, 1);
        break;
    case REQUEST_SEARCH_PREVIOUS:
        Question_find(screen, -1);
        break;
    case REQUEST_FILTER:
        Question_open(screen, PROMPT_FILTER);
        break;
    case REQUEST_BACK:
        go_back(screen);
        break;
    case REQUEST_UNITS:
        toggle_units(screen);
        break;
    case REQUEST_PAUSE:
        Feed_pause(screen->feed, !screen->feed->paused);
        break;
    case REQUEST_FASTER:
    case REQUEST_SLOWER:
        (screen->feed->replay ? change_speed : change_rate)(
            screen, request == REQUEST_FASTER ? -1 : 1);
        break;
    case REQUEST_RESET:
        Model_reset(&screen->model);
        ViewFlame_reset(screen);
        ViewCallers_reset(screen);
        ViewAnnotate_reset(screen);
        Screen_say(screen, false,
                   "Calls, cycles and events count from now on; AVG, "
                   "P50 and P99 do not.");
        break;
    case REQUEST_BASELINE:
        Model_baseline(&screen->model);
        Screen_say(screen, false,
                   screen->model.baseline
                       ? "Columns show the change since now. b again drops it."
                       : "The baseline is dropped.");
        break;
    case REQUEST_REARM:
        rearm(screen);
        break;
    case REQUEST_REARM_ALL:
        Screen_asked(screen, Feed_rearm(screen->feed, 0),
                     "Re-arming all functions…");
        break;
    case REQUEST_BUDGET:
        Question_open(screen, PROMPT_BUDGET);
        break;
    case REQUEST_EXPORT:
        Question_open(screen, PROMPT_EXPORT);
        break;
    case REQUEST_SAVE:
        Question_open(screen, PROMPT_SAVE);
        break;
    case REQUEST_REDRAW:
        screen->redraw = true;
        break;
    case REQUEST_PROCESSES:
        screen->leave = screen->quit = true;
        break;
    case REQUEST_QUIT:
        screen->quit = true;
        break;
    }
}

static void press(struct Screen *screen, uint32_t key)
{
    const struct View *view = View_of(screen);
    int request = View_request(view, key);
    enum ViewId opened = View_opened_by(key);
    const struct Binding *binding =
        opened == VIEW_COUNT ? Keymap_find(key) : &VIEWS[opened].opens;
    if (view->press(screen, request, key) || !binding)
        return;
    if (opened == screen->view)
        View_back(screen);
    else if (View_refuses(screen, binding))
        return;
    else if (opened != VIEW_COUNT)
        View_open(screen, opened);
    else
        carry_out(screen, request);
}

void Keyboard_press(struct Screen *screen, uint32_t key)
{
    screen->message[0] = 0;
    if (screen->layout.too_small)
        screen->quit |= Keymap_request(key) == REQUEST_QUIT;
    else if (screen->prompt.kind != PROMPT_NONE)
        Question_press(screen, key);
    else
        press(screen, key);
    if (View_of(screen)->want)
        View_of(screen)->want(screen);
}
