// SPDX-License-Identifier: MIT
#include "tui/app/updates.h"

#include "tui/text/number.h"
#include "tui/views/navigation.h"

#include <errno.h>
#include <string.h>

static void show_export(struct Ui *ui, const struct Answer *answer)
{
    char size[NUMBER_MAX], part[NUMBER_MAX];
    const char *path = *answer->text ? answer->text : ui->export_path;
    Number_bytes(size, (double)answer->bytes);
    if (answer->failed && answer->error == EEXIST)
        memcpy(ui->existing, ui->export_path, sizeof ui->existing);
    else if (answer->failed)
        Ui_say(ui, true, "The timeline was not exported: %s",
               *answer->text ? answer->text : strerror(answer->error));
    else if (answer->done)
        Ui_say_written(ui, path, size, answer->lack);
    else
        Ui_say(ui, false, "Exporting the timeline: %s, %s so far. Esc stops.",
               Number_percent(part, answer->progress), size);
}

void Updates_answer(struct Ui *ui, const struct Answer *answer)
{
    char number[NUMBER_MAX];
    const char *what = answer->about ? "the function" : "all functions";
    if (answer->request == MESSAGE_FLAME)
        FlameState_refuse(&ui->flame, answer->text);
    else if (answer->request == MESSAGE_HANDOUT)
        show_export(ui, answer);
    else if (answer->failed)
        Ui_say(ui, true, "The process refused: %s",
               *answer->text ? answer->text : strerror(answer->error));
    else if (*answer->text)
        Ui_say(ui, false, "%s", answer->text);
    else if (answer->request == MESSAGE_BUDGET)
        Ui_say(ui, false, "The overhead budget is %s now.",
               Number_percent(number, answer->progress));
    else if (answer->request == MESSAGE_REARM)
        Ui_say(ui, false,
               "Done: %s will be measured again, as the budget allows.", what);
}

void Updates_receive(struct Ui *ui)
{
    struct Answer answer;
    const struct Capture *recording = ui->feed->recording;
    bool ended = ui->feed->ended, records = recording && !recording->error;
    while (Feed_next(ui->feed, &answer)) {
        Updates_answer(ui, &answer);
        ui->changed = true;
    }
    if (ended != ui->feed->ended && !Feed_is_shown(ui->feed)) {
        Ui_say(ui, !ui->model.snapshot, "%s%s Q quits.", ui->feed->reason,
               ui->model.snapshot ? ". The last numbers stay here;" : ".");
        ui->changed = true;
    }
    if (records && recording->error) {
        Ui_say(ui, true,
               "Nothing more is recorded: %s. The file ends "
               "here.",
               strerror(-recording->error));
        ui->changed = true;
    }
}

static void take_stacks(struct Ui *ui, struct FlameTable *stacks)
{
    struct Calls calls = {.count = 0};
    const struct Moment *now = &ui->flame.now;
    FlameState_take(&ui->flame, stacks);
    ui->changed |= ui->view == VIEW_FLAME || ui->view == VIEW_LATENCY;
    if (!ui->model.latency || !Feed_has_all_stacks(ui->feed) ||
        FlameState_calls(&ui->flame, &calls))
        return;
    Model_take_calls(&ui->model, &calls, now->at_s, now->samples);
    Calls_release(&calls);
}

int Updates_poll(struct Ui *ui)
{
    Updates_receive(ui);
    if (ui->feed->listing.newest && Navigation_front(ui)->want)
        Navigation_front(ui)->want(ui);
    struct FlameTable *stacks = Feed_take_stacks(ui->feed);
    if (stacks)
        take_stacks(ui, stacks);
    struct Snapshot *snapshot = Feed_take(ui->feed);
    if (!snapshot)
        return 0;
    ui->changed = true;
    Children_update(&ui->children, ui->feed->pid, Feed_now());
    if (!ui->model.snapshot && snapshot->sampler_trouble)
        Ui_say(ui, true, "No sampler: %s.", snapshot->sampler_trouble);
    Ui_take_stretch(ui, snapshot);
    int error = Model_push(&ui->model, snapshot);
    if (!error && Navigation_front(ui)->want)
        Navigation_front(ui)->want(ui);
    return error ? error : 1;
}
