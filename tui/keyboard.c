// SPDX-License-Identifier: MIT
// See keyboard.h.
#include "tui/keyboard.h"

#include "tui/keymap.h"
#include "tui/number.h"
#include "tui/save.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- Requests to the process

static void ask(struct Screen *screen, int error, const char *asked)
{
    if (screen->feed->ended)
        Screen_say(screen, true, "That needs the program, and it has ended.");
    else if (error)
        Screen_say(screen, true, "The process cannot be asked: %s",
                   strerror(-error));
    else
        Screen_say(screen, false, "%s", asked);
}

static void rearm(struct Screen *screen)
{
    const struct Row *row = Model_selected(&screen->model);
    char text[256], name[160];
    if (!row) {
        Screen_say(screen, true, "No function is selected.");
        return;
    }
    Text_clean(name, sizeof name, Column_text_key(COLUMN_FUNCTION, row));
    snprintf(text, sizeof text, "Re-arming %s…", name);
    ask(screen, Feed_rearm(screen->feed, row->id), text);
}

// "2", "0.5 %": a share, or NAN.
static double read_percent(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || !(value > 0 && value <= 100))
        return NAN;
    while (*end == ' ' || *end == '%')
        end++;
    return *end ? NAN : value / 100;
}

static void change_budget(struct Screen *screen, const char *text)
{
    char said[96], number[NUMBER_MAX];
    double share = read_percent(text);
    if (isnan(share)) {
        Screen_say(screen, true,
                   "The budget is more than 0 and at most 100 per cent, for "
                   "example 0.5; it stays as it is.");
        return;
    }
    snprintf(said, sizeof said, "Asking for a budget of %s…",
             Number_percent(number, share));
    ask(screen, Feed_budget(screen->feed, share), said);
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
    ask(screen, Feed_rate(screen->feed, next), text);
}

static void start_export(struct Screen *screen, bool overwrite)
{
    memcpy(screen->export_path, screen->prompt.text,
           sizeof screen->export_path);
    ask(screen, Feed_export(screen->feed, screen->export_path, overwrite),
        "Exporting the timeline… Esc stops.");
}

// --- What the viewer does by itself

static void save(struct Screen *screen, bool overwrite)
{
    struct Bytes json;
    char size[NUMBER_MAX];
    const char *path = screen->prompt.text;
    Bytes_init(&json);
    int error = Screen_json(screen, &json);
    if (!error)
        error = Save_file(path, json.data, json.size, overwrite);
    if (error == -EEXIST)
        Prompt_open(&screen->prompt, PROMPT_OVERWRITE_SAVE, path);
    else if (error == -EINVAL)
        Screen_say(screen, true, "%s is no regular file: choose another name",
                   path);
    else if (error)
        Screen_say(screen, true, "%s was not saved: %s", path,
                   strerror(-error));
    else
        Screen_say(screen, false, "Saved as JSON: %s, %s", path,
                   Number_bytes(size, (double)json.size));
    Bytes_release(&json);
}

static void sort_by_neighbour(struct Screen *screen, int step)
{
    const struct Layout *layout = &screen->layout;
    int at = 0;
    if (!layout->column_count)
        return;
    for (int i = 0; i < layout->column_count; i++)
        if (layout->columns[i].id == Model_sort_column(&screen->model))
            at = i;
    at = (at + step + layout->column_count) % layout->column_count;
    Model_sort_by(&screen->model, layout->columns[at].id);
}

static void toggle_units(struct Screen *screen)
{
    const struct Snapshot *snapshot = screen->model.snapshot;
    if (snapshot && snapshot->tsc_hz > 0)
        screen->ns = !screen->ns;
    else
        Screen_say(screen, true,
                   "The process does not say how fast its clock is.");
}

static void find(struct Screen *screen, int step)
{
    if (!*screen->model.search)
        Screen_say(screen, true,
                   "Nothing to search for yet: / begins a search.");
    else if (!Model_find(&screen->model, step, false))
        Screen_say(screen, true, "No function or path has \"%s\" in it.",
                   screen->model.search);
}

static void open_prompt(struct Screen *screen, enum PromptKind kind)
{
    char path[64] = "ocular_trace.json";
    const struct Snapshot *snapshot = screen->model.snapshot;
    const char *text = path;
    if (kind != PROMPT_FILTER && kind != PROMPT_SEARCH && !snapshot) {
        Screen_say(screen, true, "There are no numbers yet.");
        return;
    }
    if (kind == PROMPT_FILTER)
        text = screen->model.filter;
    else if (kind == PROMPT_SEARCH)
        text = "";
    else if (kind == PROMPT_BUDGET)
        snprintf(path, sizeof path, "%.4g",
                 snapshot->overhead_budget > 0 ? snapshot->overhead_budget * 100
                                               : 1.0);
    else if (kind == PROMPT_SAVE)
        snprintf(path, sizeof path, "ocular-%llu.json",
                 (unsigned long long)snapshot->pid);
    screen->origin = screen->model.selected;
    Prompt_open(&screen->prompt, kind, text);
}

static void go_back(struct Screen *screen)
{
    for (int i = 0; i < FEED_PENDING; i++) {
        const struct FeedPending *pending = &screen->feed->pending[i];
        if (pending->number && pending->type == MESSAGE_EXPORT) {
            ask(screen, Feed_cancel(screen->feed), "Stopping the export…");
            return;
        }
    }
    Model_filter(&screen->model, "");
}

// --- Keys

static void move(struct Screen *screen, enum Request request)
{
    struct Model *model = &screen->model;
    long page =
        screen->layout.body_height > 1 ? screen->layout.body_height - 1 : 1;
    if (request == REQUEST_UP)
        Model_move(model, -1);
    else if (request == REQUEST_DOWN)
        Model_move(model, 1);
    else if (request == REQUEST_PAGE_UP)
        Model_move(model, -page);
    else if (request == REQUEST_PAGE_DOWN)
        Model_move(model, page);
    else if (request == REQUEST_HOME)
        Model_home(model);
    else
        Model_end(model);
}

static void carry_out(struct Screen *screen, enum Request request)
{
    switch (request) {
    case REQUEST_UP:
    case REQUEST_DOWN:
    case REQUEST_PAGE_UP:
    case REQUEST_PAGE_DOWN:
    case REQUEST_HOME:
    case REQUEST_END:
        move(screen, request);
        break;
    case REQUEST_SEARCH:
        open_prompt(screen, PROMPT_SEARCH);
        break;
    case REQUEST_SEARCH_NEXT:
        find(screen, 1);
        break;
    case REQUEST_SEARCH_PREVIOUS:
        find(screen, -1);
        break;
    case REQUEST_FILTER:
        open_prompt(screen, PROMPT_FILTER);
        break;
    case REQUEST_BACK:
        go_back(screen);
        break;
    case REQUEST_SORT_NEXT:
        sort_by_neighbour(screen, 1);
        break;
    case REQUEST_SORT_PREVIOUS:
        sort_by_neighbour(screen, -1);
        break;
    case REQUEST_INVERT:
        Model_invert(&screen->model);
        break;
    case REQUEST_UNITS:
        toggle_units(screen);
        break;
    case REQUEST_PAUSE:
        Feed_pause(screen->feed, !screen->feed->paused);
        break;
    case REQUEST_FASTER:
        change_rate(screen, -1);
        break;
    case REQUEST_SLOWER:
        change_rate(screen, 1);
        break;
    case REQUEST_RESET:
        Model_reset(&screen->model);
        Screen_say(screen, false,
                   "Calls, cycles and events count from now on; AVG, "
                   "P50 and P99 do not.");
        break;
    case REQUEST_REARM:
        rearm(screen);
        break;
    case REQUEST_REARM_ALL:
        ask(screen, Feed_rearm(screen->feed, 0), "Re-arming all functions…");
        break;
    case REQUEST_BUDGET:
        open_prompt(screen, PROMPT_BUDGET);
        break;
    case REQUEST_EXPORT:
        open_prompt(screen, PROMPT_EXPORT);
        break;
    case REQUEST_SAVE:
        open_prompt(screen, PROMPT_SAVE);
        break;
    case REQUEST_HELP:
        screen->help = true;
        screen->help_top = 0;
        break;
    case REQUEST_REDRAW:
        screen->redraw = true;
        break;
    case REQUEST_QUIT:
        screen->quit = true;
        break;
    case REQUEST_NONE:
        break;
    }
}

static void help_key(struct Screen *screen, uint32_t key)
{
    int page = screen->canvas.height - 5;
    switch (Keymap_request(key)) {
    case REQUEST_UP:
        screen->help_top--;
        break;
    case REQUEST_DOWN:
        screen->help_top++;
        break;
    case REQUEST_PAGE_UP:
        screen->help_top -= page;
        break;
    case REQUEST_PAGE_DOWN:
    case REQUEST_PAUSE: // Space pages on, as in every reader of text
        screen->help_top += page;
        break;
    case REQUEST_HOME:
        screen->help_top = 0;
        break;
    case REQUEST_END:
        screen->help_top = 1000;
        break;
    case REQUEST_REDRAW:
        screen->redraw = true;
        break;
    case REQUEST_HELP:
    case REQUEST_BACK:
    case REQUEST_QUIT:
        screen->help = false;
        break;
    default:
        if (key == PRESS_ENTER || key == PRESS_LEFT || key == PRESS_BACKSPACE)
            screen->help = false;
    }
}

// Search and filter act while they are typed.
static void follow_typing(struct Screen *screen)
{
    struct Model *model = &screen->model;
    const char *text = screen->prompt.text;
    if (screen->prompt.kind == PROMPT_FILTER) {
        Model_filter(model, text);
    } else if (screen->prompt.kind == PROMPT_SEARCH) {
        snprintf(model->search, sizeof model->search, "%.255s", text);
        model->selected = screen->origin < model->shown ? screen->origin : 0;
        Model_find(model, 1, true);
    }
}

static void finish_prompt(struct Screen *screen, enum PromptKind kind)
{
    const char *text = screen->prompt.text;
    bool path = kind == PROMPT_EXPORT || kind == PROMPT_SAVE;
    if (path && !*text)
        Screen_say(screen, true, "Nothing was written: a file needs a name.");
    else if (kind == PROMPT_EXPORT || kind == PROMPT_OVERWRITE_EXPORT)
        start_export(screen, kind == PROMPT_OVERWRITE_EXPORT);
    else if (kind == PROMPT_SAVE || kind == PROMPT_OVERWRITE_SAVE)
        save(screen, kind == PROMPT_OVERWRITE_SAVE);
    else if (kind == PROMPT_BUDGET)
        change_budget(screen, text);
    else if (kind == PROMPT_SEARCH && *text &&
             !Model_find(&screen->model, 1, true))
        Screen_say(screen, true, "No function or path has \"%s\" in it.", text);
}

static void prompt_key(struct Screen *screen, uint32_t key)
{
    enum PromptKind kind = screen->prompt.kind;
    switch (Prompt_key(&screen->prompt, key)) {
    case PROMPT_EDITING:
        follow_typing(screen);
        break;
    case PROMPT_DONE:
        Prompt_close(&screen->prompt);
        finish_prompt(screen, kind);
        break;
    case PROMPT_CANCELLED:
        Prompt_close(&screen->prompt);
        if (kind == PROMPT_FILTER)
            Model_filter(&screen->model, "");
        else if (kind == PROMPT_BUDGET)
            Screen_say(screen, false, "The budget stays as it is.");
        else if (kind != PROMPT_SEARCH)
            Screen_say(screen, false, "Nothing was written.");
        break;
    }
}

void Keyboard_press(struct Screen *screen, uint32_t key)
{
    enum Request request = Keymap_request(key);
    screen->message[0] = 0;
    if (screen->layout.too_small)
        screen->quit |= request == REQUEST_QUIT;
    else if (screen->prompt.kind != PROMPT_NONE)
        prompt_key(screen, key);
    else if (screen->help)
        help_key(screen, key);
    else
        carry_out(screen, request);
}
