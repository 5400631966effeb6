// SPDX-License-Identifier: MIT
#include "tui/views/ui.h"

#include "ipc/file_kind.h"
#include "tui/model/json.h"
#include "tui/model/since.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE_S 6.0 // Number of seconds for which a message is shown.

void Ui_init(struct Ui *ui, const struct View *const *views, struct Feed *feed,
             bool ascii)
{
    *ui = (struct Ui){.views = views, .feed = feed};
    Model_init(&ui->model);
    Canvas_init(&ui->canvas, ascii);
}

void Ui_release(struct Ui *ui)
{
    AnnotateState_release(&ui->annotate);
    CallersState_release(&ui->callers);
    ThreadsState_release(&ui->threads);
    Model_release(&ui->model);
    FlameState_release(&ui->flame);
    Comparison_release(&ui->comparison);
    Canvas_release(&ui->canvas);
}

void Ui_want_natives(struct Ui *ui, bool wanted)
{
    bool past = wanted && Feed_is_past(ui->feed);
    ui->natives = wanted;
    Ui_say(
        ui, past,
        past
            ? "A recording has no C functions: ocular --native --output x.html."
        : wanted ? "C functions are shown as soon as samples find them."
                 : "C functions are hidden.");
}

void Ui_choose(struct Ui *ui, uint64_t function)
{
    if (Model_shows(&ui->model, function))
        ui->lists[VIEW_MAIN].key = function;
}

static void compare(struct Ui *ui, const struct Snapshot *before,
                    const struct Snapshot *now)
{
    Comparison_release(&ui->comparison);
    if (Comparison_make(&ui->comparison, before, now) == 0)
        return;
    Comparison_release(&ui->comparison);
    Ui_say(ui, true, "There is no memory to compare the two runs.");
}

void Ui_take_stretch(struct Ui *ui, const struct Snapshot *snapshot)
{
    struct PastRun *run = ui->feed->link.past;
    if (!run)
        return;
    if (!ui->model.snapshot && *PastRun_note(run))
        Ui_say(ui, true, "%s.", PastRun_note(run));
    else if (!ui->alert)
        *ui->message = '\0'; // Removes the message "Reading that part…".
    Model_start_over(&ui->model);
    PastRun_curve(run, ui->model.trend, TREND_LENGTH);
    ui->model.past = true;
    FlameState_forget(&ui->flame);
    AnnotateState_forget(&ui->annotate);
    if (PastRun_before(run))
        compare(ui, PastRun_before(run), snapshot);
}

bool Ui_lists_functions(const struct Ui *ui)
{
    return ui->view == VIEW_MAIN || ui->view == VIEW_LATENCY;
}

void Ui_draw_title(struct Ui *ui, struct Strip *strip)
{
    struct Box box = {ui->layout.title_y, 1, ui->canvas.width - 2};
    Strip_draw(strip, &ui->canvas, box, 3);
}

void Ui_draw_nothing(struct Ui *ui, const char *text)
{
    struct Box box = {ui->layout.body_y, 2, ui->canvas.width - 3};
    Canvas_fit(&ui->canvas, box, STYLE_FAINT, CUT_END, text);
}

// --- Messages

static void say(struct Ui *ui, bool alert, const char *format,
                va_list arguments)
{
    vsnprintf(ui->message, sizeof ui->message, format, arguments);
    ui->path_at = ui->path_length = 0;
    ui->alert = alert;
    ui->message_until = Feed_now() + MESSAGE_S;
}

void Ui_say(struct Ui *ui, bool alert, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(ui, alert, format, arguments);
    va_end(arguments);
}

void Ui_say_path(struct Ui *ui, const char *path, bool alert,
                 const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(ui, alert, format, arguments);
    va_end(arguments);
    const char *found = strstr(ui->message, path);
    if (!found)
        return;
    ui->path_at = (int)(found - ui->message);
    ui->path_length = (int)strlen(path);
}

void Ui_say_written(struct Ui *ui, const char *path, const char *size,
                    const char *lack)
{
    bool profile = FileKind_is_profile(path);
    if (*lack)
        Ui_say_path(ui, path, true, "%s written: %s, %s, but %s",
                    profile ? "Stacks" : "Timeline", path, size, lack);
    else if (profile)
        Ui_say_path(ui, path, false, "Stacks written: %s, %s.", path, size);
    else
        Ui_say_path(ui, path, false,
                    "Timeline written: %s, %s. ui.perfetto.dev opens it.", path,
                    size);
}

void Ui_say_asked(struct Ui *ui, int error, const char *asked)
{
    if (Feed_is_replay(ui->feed))
        Ui_say(ui, true, "That needs a live program, and this is a recording.");
    else if (ui->feed->ended)
        Ui_say(ui, true, "That needs the program, and it has ended.");
    else if (error)
        Ui_say(ui, true, "The process cannot be asked: %s", strerror(-error));
    else
        Ui_say(ui, false, "%s", asked);
}

// --- As JSON

int Ui_write_json(const struct Ui *ui, struct Bytes *out)
{
    if (ui->views[ui->view]->json)
        return ui->views[ui->view]->json(ui, out);
    if (!ui->model.snapshot)
        return -ENODATA;
    struct Since since;
    struct FleetState fleet;
    int error = Since_make(&since, &ui->model, Ui_lists_functions(ui));
    if (error)
        return error;
    struct JsonSnapshot from = {.snapshot = &since.snapshot,
                                .since_s = since.at_s,
                                .tid = since.tid,
                                .past = Feed_is_past(ui->feed)};
    if (ui->feed->link.fleet) {
        Fleet_state(ui->feed->link.fleet, &fleet);
        from.fleet = &fleet;
    }
    error = Json_snapshot(out, &from);
    Since_release(&since);
    return error;
}

const char *Ui_json_note(const struct Ui *ui)
{
    const struct Model *model = &ui->model;
    bool part = Ui_lists_functions(ui) && model->one_thread;
    if (ui->view == VIEW_FLAME)
        return "";
    if (ui->view == VIEW_ANNOTATE)
        return model->reset ? ". Its hits are since the start." : "";
    if (part && model->baseline)
        return ". Its shares are this thread's, and no changes since the "
               "baseline.";
    if (model->baseline)
        return ". Its numbers are no changes since the baseline.";
    if (part && model->reset)
        return ". Its shares are this thread's, its counts since the reset.";
    if (part)
        return ". Its shares are this thread's.";
    return model->reset ? ". Its counts are since the reset." : "";
}
