// SPDX-License-Identifier: MIT
// See screen.h.
#include "tui/app/screen.h"

#include "ipc/version.h"
#include "tui/model/json.h"
#include "tui/model/since.h"
#include "tui/text/number.h"
#include "tui/views/bottom.h"
#include "tui/views/table.h"
#include "tui/views/view_main.h"

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
    ViewAnnotate_release(&screen->annotate);
    ViewCallers_release(&screen->callers);
    Model_release(&screen->model);
    ViewFlame_release(&screen->flame);
    Canvas_release(&screen->canvas);
}

int Screen_resize(struct Screen *screen, int width, int height)
{
    return Canvas_resize(&screen->canvas, width, height);
}

// --- Messages and answers

static void say(struct Screen *screen, bool alert, const char *format,
                va_list arguments)
{
    vsnprintf(screen->message, sizeof screen->message, format, arguments);
    screen->path_at = screen->path_length = 0;
    screen->alert = alert;
    screen->message_until = Feed_now() + MESSAGE_S;
}

void Screen_say(struct Screen *screen, bool alert, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(screen, alert, format, arguments);
    va_end(arguments);
}

void Screen_say_path(struct Screen *screen, const char *path, bool alert,
                     const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(screen, alert, format, arguments);
    va_end(arguments);
    const char *found = strstr(screen->message, path);
    if (!found)
        return;
    screen->path_at = (int)(found - screen->message);
    screen->path_length = (int)strlen(path);
}

void Screen_asked(struct Screen *screen, int error, const char *asked)
{
    if (screen->feed->replay)
        Screen_say(screen, true,
                   "That needs a live program, and this is a recording.");
    else if (screen->feed->ended)
        Screen_say(screen, true, "That needs the program, and it has ended.");
    else if (error)
        Screen_say(screen, true, "The process cannot be asked: %s",
                   strerror(-error));
    else
        Screen_say(screen, false, "%s", asked);
}

static void show_export(struct Screen *screen, const struct Answer *answer)
{
    char size[NUMBER_MAX], part[NUMBER_MAX];
    const char *path = *answer->text ? answer->text : screen->export_path;
    Number_bytes(size, (double)answer->bytes);
    if (answer->failed && answer->error == EEXIST)
        memcpy(screen->existing, screen->export_path, sizeof screen->existing);
    else if (answer->failed)
        Screen_say(screen, true, "The timeline was not exported: %s",
                   *answer->text ? answer->text : strerror(answer->error));
    else if (answer->done)
        Screen_say_path(screen, path, false,
                        "Timeline written: %s, %s. ui.perfetto.dev opens it.",
                        path, size);
    else
        Screen_say(screen, false,
                   "Exporting the timeline: %s, %s so far. Esc stops.",
                   Number_percent(part, answer->progress), size);
}

void Screen_answer(struct Screen *screen, const struct Answer *answer)
{
    char number[NUMBER_MAX];
    const char *what = answer->about ? "the function" : "all functions";
    if (answer->request == MESSAGE_FLAME)
        ViewFlame_refuse(&screen->flame, answer->text);
    else if (answer->request == MESSAGE_EXPORT)
        show_export(screen, answer);
    else if (answer->failed)
        Screen_say(screen, true, "The process refused: %s",
                   *answer->text ? answer->text : strerror(answer->error));
    else if (*answer->text)
        Screen_say(screen, false, "%s", answer->text);
    else if (answer->request == MESSAGE_BUDGET)
        Screen_say(screen, false, "The overhead budget is %s now.",
                   Number_percent(number, answer->progress));
    else if (answer->request == MESSAGE_REARM)
        Screen_say(screen, false,
                   "Done: %s will be measured anew, as the budget allows.",
                   what);
}

void Screen_receive(struct Screen *screen)
{
    struct Answer answer;
    const struct Recording *recording = screen->feed->recording;
    bool ended = screen->feed->ended, records = recording && !recording->error;
    while (Feed_next(screen->feed, &answer)) {
        Screen_answer(screen, &answer);
        screen->changed = true;
    }
    if (ended != screen->feed->ended) {
        Screen_say(screen, !screen->model.snapshot, "%s%s q quits.",
                   screen->feed->reason,
                   screen->model.snapshot ? ". Its last numbers stay here;"
                                          : ".");
        screen->changed = true;
    }
    if (records && recording->error) {
        Screen_say(screen, true,
                   "Nothing more is recorded: %s. The file ends "
                   "here.",
                   strerror(-recording->error));
        screen->changed = true;
    }
}

int Screen_poll(struct Screen *screen)
{
    Screen_receive(screen);
    if (Feed_has_listing(screen->feed) && View_of(screen)->want)
        View_of(screen)->want(screen);
    struct FlameTable *stacks = Feed_take_stacks(screen->feed);
    if (stacks) {
        ViewFlame_take(&screen->flame, stacks);
        screen->changed |= screen->view == VIEW_FLAME;
    }
    struct Snapshot *snapshot = Feed_take(screen->feed);
    if (!snapshot)
        return 0;
    screen->changed = true;
    Children_look(&screen->children, screen->feed->pid, Feed_now());
    if (!screen->model.snapshot && snapshot->sampler_trouble)
        Screen_say(screen, true, "No sampler: %s.", snapshot->sampler_trouble);
    int error = Model_push(&screen->model, snapshot);
    if (!error && View_of(screen)->want)
        View_of(screen)->want(screen);
    return error ? error : 1;
}

int Screen_json(const struct Screen *screen, struct Bytes *out)
{
    if (View_of(screen)->json)
        return View_of(screen)->json(screen, out);
    if (!screen->model.snapshot)
        return -ENODATA;
    struct Since since;
    int error = Since_make(&since, &screen->model, screen->view == VIEW_MAIN);
    if (error)
        return error;
    error = Json_snapshot(out, &since.snapshot, since.at_s, since.tid);
    Since_release(&since);
    return error;
}

// --- The frame

static const char *prompt_label(const struct Prompt *prompt)
{
    static const char *const labels[] = {
        [PROMPT_SEARCH] = "Search:",
        [PROMPT_FILTER] = "Filter (Esc shows all):",
        [PROMPT_EXPORT] = "Export the timeline to:",
        [PROMPT_SAVE] = "Save as JSON to:",
        [PROMPT_BUDGET] = "Overhead budget, in per cent of CPU time:",
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
    bool patient = silent < 3 * feed->rate_s || silent < 3 || feed->replay;
    *status = (struct Status){
        .version = OCULAR_VERSION,
        .paused = feed->paused,
        .ended = feed->ended,
        .replay = feed->replay ? feed->speed : 0,
        .rate_s = feed->rate_s,
        .silent_s = patient || screen->bare ? 0 : silent,
        .untraced_children = screen->children.untraced,
        .display = {.ns = screen->ns,
                    .baseline = screen->model.baseline,
                    .tsc_hz = snapshot ? snapshot->tsc_hz : NAN},
    };
    if (*feed->notice)
        status->notice = feed->notice;
    if (*screen->message && Feed_now() < screen->message_until) {
        status->message = screen->message;
        status->path_at = screen->path_at;
        status->path_length = screen->path_length;
        status->alert = screen->alert;
    }
    if (screen->prompt.kind != PROMPT_NONE) {
        status->prompt = prompt_label(&screen->prompt);
        status->typed = screen->prompt.text;
    }
}

static void ask_about_existing(struct Screen *screen)
{
    if (!*screen->existing || screen->prompt.kind != PROMPT_NONE)
        return;
    Prompt_open(&screen->prompt, PROMPT_OVERWRITE_EXPORT, screen->existing);
    screen->existing[0] = 0;
}

void Screen_draw(struct Screen *screen)
{
    struct Canvas *canvas = &screen->canvas;
    const struct Model *model = &screen->model;
    const struct View *view = View_of(screen);
    struct Layout *layout = &screen->layout;
    struct Status status;
    struct TableWish wish = {.sampled = model->sampled || !model->snapshot,
                             .bare = screen->bare};
    if (screen->view == VIEW_MAIN)
        Table_layout(layout, canvas->width, canvas->height, wish);
    else
        Layout_view(layout, canvas->width, canvas->height);
    Canvas_clear(canvas);
    screen->changed = false;
    if (!layout->too_small)
        ask_about_existing(screen);
    fill_status(screen, &status);
    if (layout->too_small) {
        ViewMain_draw_small(canvas);
        return;
    }
    view->draw(screen, &status);
    if (layout->footer_y >= 0)
        Bottom_draw(canvas, layout->footer_y, view, View_can(screen), &status);
}
