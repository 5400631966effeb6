// SPDX-License-Identifier: MIT
// See screen.h.
#include "tui/screen.h"

#include "ipc/version.h"
#include "tui/json.h"
#include "tui/number.h"
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

void Screen_say(struct Screen *screen, bool alert, const char *format, ...)
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
        Screen_say(screen, true, "The timeline was not exported: %s",
                   *answer->text ? answer->text : strerror(answer->error));
    else if (answer->done)
        Screen_say(screen, false,
                   "Timeline written: %s, %s. ui.perfetto.dev opens it.", path,
                   size);
    else
        Screen_say(screen, false,
                   "Exporting the timeline: %s, %s so far. Esc stops.",
                   Number_percent(part, answer->progress), size);
}

static void show_answer(struct Screen *screen, const struct Answer *answer)
{
    char number[NUMBER_MAX];
    const char *what = answer->about ? "the function" : "all functions";
    if (answer->request == MESSAGE_EXPORT)
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
        Screen_say(screen, false, "Done: %s will be measured anew.", what);
}

int Screen_poll(struct Screen *screen)
{
    struct Answer answer;
    bool ended = screen->feed->ended;
    while (Feed_next(screen->feed, &answer)) {
        show_answer(screen, &answer);
        screen->changed = true;
    }
    if (ended != screen->feed->ended) {
        Screen_say(screen, !screen->model.snapshot, "%s%s q quits.",
                   screen->feed->reason,
                   screen->model.snapshot ? ". Its last numbers stay here;"
                                          : ".");
        screen->changed = true;
    }
    struct Snapshot *snapshot = Feed_take(screen->feed);
    if (!snapshot)
        return 0;
    screen->changed = true;
    int error = Model_push(&screen->model, snapshot);
    return error ? error : 1;
}

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
    bool patient = silent < 3 * feed->rate_s || silent < 3;
    *status = (struct Status){
        .version = OCULAR_VERSION,
        .paused = feed->paused,
        .ended = feed->ended,
        .rate_s = feed->rate_s,
        .silent_s = patient || screen->bare ? 0 : silent,
        .look = {.ns = screen->ns, .tsc_hz = snapshot ? snapshot->tsc_hz : NAN},
    };
    if (*feed->notice)
        status->notice = feed->notice;
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
    screen->changed = false;
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
