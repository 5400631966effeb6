// SPDX-License-Identifier: MIT
// See screen.h.
#include "tui/screen.h"

#include "ipc/version.h"
#include "tui/json.h"
#include "tui/keymap.h"
#include "tui/number.h"
#include "tui/save.h"
#include "tui/view_help.h"
#include "tui/view_main.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_S 6.0 // how long one stays

void Screen_init(struct Screen *screen, struct Feed *feed, bool ascii)
{
    *screen = (struct Screen){.feed = feed};
    Model_init(&screen->model);
    Canvas_init(&screen->canvas, ascii);
}

void Screen_release(struct Screen *screen)
{
    Model_release(&screen->model);
    Canvas_release(&screen->canvas);
}

int Screen_resize(struct Screen *screen, int width, int height)
{
    return Canvas_resize(&screen->canvas, width, height);
}

// --- Messages and answers

__attribute__((format(printf, 3, 4))) static void
say(struct Screen *screen, bool alert, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(screen->message, sizeof screen->message, format, arguments);
    va_end(arguments);
    screen->alert = alert;
    screen->message_until = Feed_now() + MESSAGE_S;
}

static void show_export(struct Screen *screen, const struct Answer *answer)
{
    char size[NUMBER_MAX], part[NUMBER_MAX];
    const char *path = *answer->text ? answer->text : screen->export_path;
    Number_bytes(size, (double)answer->bytes);
    if (answer->failed && answer->error == EEXIST)
        Prompt_open(&screen->prompt, PROMPT_OVERWRITE_EXPORT,
                    screen->export_path);
    else if (answer->failed)
        say(screen, true, "The timeline was not exported: %s",
            *answer->text ? answer->text : strerror(answer->error));
    else if (answer->done)
        say(screen, false,
            "Timeline written: %s, %s. ui.perfetto.dev opens it.", path, size);
    else
        say(screen, false, "Exporting the timeline: %s, %s so far. Esc stops.",
            Number_percent(part, answer->progress), size);
}

static void show_answer(struct Screen *screen, const struct Answer *answer)
{
    const char *what = answer->about ? "the function" : "all functions";
    if (answer->request == MESSAGE_EXPORT)
        show_export(screen, answer);
    else if (answer->failed)
        say(screen, true, "The process refused: %s",
            *answer->text ? answer->text : strerror(answer->error));
    else if (*answer->text)
        say(screen, false, "%s", answer->text);
    else if (answer->request == MESSAGE_REARM)
        say(screen, false, "Done: %s will be measured anew.", what);
}

int Screen_poll(struct Screen *screen)
{
    struct Answer answer;
    while (Feed_next(screen->feed, &answer))
        show_answer(screen, &answer);
    struct Snapshot *snapshot = Feed_take(screen->feed);
    if (!snapshot)
        return 0;
    int error = Model_push(&screen->model, snapshot);
    return error ? error : 1;
}

// --- Requests to the process

static void ask(struct Screen *screen, int error, const char *asked)
{
    if (screen->feed->ended)
        say(screen, true, "That needs the program, and it has ended.");
    else if (error)
        say(screen, true, "The process cannot be asked: %s", strerror(-error));
    else
        say(screen, false, "%s", asked);
}

static void rearm(struct Screen *screen)
{
    const struct Row *row = Model_selected(&screen->model);
    char text[256], name[160];
    if (!row) {
        say(screen, true, "No function is selected.");
        return;
    }
    Text_clean(name, sizeof name, Column_text_key(COLUMN_FUNCTION, row));
    snprintf(text, sizeof text, "Re-arming %s…", name);
    ask(screen, Feed_rearm(screen->feed, row->id), text);
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

// The snapshot with the functions that are shown, in their order.
int Screen_json(const struct Screen *screen, struct Bytes *out)
{
    const struct Model *model = &screen->model;
    struct Snapshot view = *model->snapshot;
    struct Function *functions = malloc((model->shown + 1) * sizeof *functions);
    if (!functions)
        return -ENOMEM;
    for (size_t i = 0; i < model->shown; i++)
        functions[i] = *Model_row(model, i)->now;
    view.functions = functions;
    view.function_count = model->shown;
    int error = Json_snapshot(out, &view);
    free(functions);
    return error;
}

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
        say(screen, true, "%s is no regular file: choose another name", path);
    else if (error)
        say(screen, true, "%s was not saved: %s", path, strerror(-error));
    else
        say(screen, false, "Saved as JSON: %s, %s", path,
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
        say(screen, true, "The process does not say how fast its clock is.");
}

static void find(struct Screen *screen, int step)
{
    if (!*screen->model.search)
        say(screen, true, "Nothing to search for yet: / begins a search.");
    else if (!Model_find(&screen->model, step, false))
        say(screen, true, "No function or path has \"%s\" in it.",
            screen->model.search);
}

static void open_prompt(struct Screen *screen, enum PromptKind kind)
{
    char path[64] = "ocular_trace.json";
    const struct Snapshot *snapshot = screen->model.snapshot;
    const char *text = path;
    if (kind != PROMPT_FILTER && kind != PROMPT_SEARCH && !snapshot) {
        say(screen, true, "There is nothing to save yet.");
        return;
    }
    if (kind == PROMPT_FILTER)
        text = screen->model.filter;
    else if (kind == PROMPT_SEARCH)
        text = "";
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
        say(screen, false,
            "Calls, cycles and events count from now on; AVG, "
            "P50 and P99 do not.");
        break;
    case REQUEST_REARM:
        rearm(screen);
        break;
    case REQUEST_REARM_ALL:
        ask(screen, Feed_rearm(screen->feed, 0), "Re-arming all functions…");
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
        say(screen, true, "Nothing was written: a file needs a name.");
    else if (kind == PROMPT_EXPORT || kind == PROMPT_OVERWRITE_EXPORT)
        start_export(screen, kind == PROMPT_OVERWRITE_EXPORT);
    else if (kind == PROMPT_SAVE || kind == PROMPT_OVERWRITE_SAVE)
        save(screen, kind == PROMPT_OVERWRITE_SAVE);
    else if (kind == PROMPT_SEARCH && *text &&
             !Model_find(&screen->model, 1, true))
        say(screen, true, "No function or path has \"%s\" in it.", text);
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
        else if (kind != PROMPT_SEARCH)
            say(screen, false, "Nothing was written.");
        break;
    }
}

void Screen_key(struct Screen *screen, uint32_t key)
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

// --- The frame

static const char *prompt_label(const struct Prompt *prompt)
{
    static const char *const labels[] = {
        [PROMPT_SEARCH] = "Search:",
        [PROMPT_FILTER] = "Filter (Esc shows all):",
        [PROMPT_EXPORT] =
            "Export the timeline to (in the program's directory):",
        [PROMPT_SAVE] = "Save the screen as JSON to:",
        [PROMPT_OVERWRITE_EXPORT] = "It exists. Overwrite? y/n ",
        [PROMPT_OVERWRITE_SAVE] = "It exists. Overwrite? y/n ",
    };
    return labels[prompt->kind];
}

static void fill_status(const struct Screen *screen, struct Status *status)
{
    const struct Feed *feed = screen->feed;
    const struct Snapshot *snapshot = screen->model.snapshot;
    double silent = Feed_now() - feed->heard_at;
    bool patient = silent < 3 * feed->rate_s || silent < 3;
    *status = (struct Status){
        .version = OCULAR_VERSION,
        .paused = feed->paused,
        .ended = feed->ended,
        .rate_s = feed->rate_s,
        .silent_s = patient || screen->bare ? 0 : silent,
        .look = {.ns = screen->ns, .tsc_hz = snapshot ? snapshot->tsc_hz : NAN},
    };
    if (*screen->message && Feed_now() < screen->message_until) {
        status->message = screen->message;
        status->alert = screen->alert;
    }
    if (screen->prompt.kind != PROMPT_NONE) {
        status->prompt = prompt_label(&screen->prompt);
        status->typed = screen->prompt.text;
    }
}

void Screen_draw(struct Screen *screen)
{
    struct Canvas *canvas = &screen->canvas;
    struct Model *model = &screen->model;
    struct Status status;
    struct LayoutWish wish = {.sampled = model->sampled || !model->snapshot,
                              .bare = screen->bare};
    Layout_make(&screen->layout, canvas->width, canvas->height, wish);
    Canvas_clear(canvas);
    fill_status(screen, &status);
    if (screen->layout.too_small) {
        ViewMain_draw_small(canvas);
    } else if (screen->help) {
        ViewHelp_draw(canvas, &screen->help_top);
    } else {
        Model_scroll(model, screen->layout.body_height);
        ViewMain_draw(canvas, model, &screen->layout, &status);
    }
}
