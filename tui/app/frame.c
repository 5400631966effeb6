// SPDX-License-Identifier: MIT
#include "tui/app/frame.h"

#include "ipc/version.h"
#include "tui/screen/layout.h"
#include "tui/views/bottom.h"
#include "tui/views/header.h"
#include "tui/views/navigation.h"

#include <math.h>

static void fill_stretch(const struct Feed *feed, struct Status *status)
{
    struct SummaryStretch all, shown;
    status->past = Feed_is_past(feed);
    if (!status->past || !PastRun_stretches(feed->link.past, &all, &shown))
        return;
    status->first_s = all.from_s;
    status->all_s = all.to_s;
    status->from_s = shown.from_s;
    status->to_s = shown.to_s;
}

static void fill_workers(const struct Fleet *fleet, struct Status *status)
{
    struct FleetState state;
    if (!fleet)
        return;
    Fleet_state(fleet, &state);
    status->master_ended = Fleet_master_ended(fleet);
    status->unmerged = (unsigned)state.workers_beyond;
    for (size_t i = 0; i < state.worker_count; i++) {
        const struct FleetWorker *worker = &state.workers[i];
        status->workers += !worker->master && worker->merged;
        status->unmerged += !worker->master && worker->why;
    }
}

static void fill_status(const struct Ui *ui, struct Status *status)
{
    const struct Feed *feed = ui->feed;
    const struct Snapshot *snapshot = ui->model.snapshot;
    double silent = Feed_now() - feed->heard_at;
    bool patient =
        silent < 3 * feed->rate_s || silent < 3 || Feed_is_replay(feed);
    *status = (struct Status){
        .version = OCULAR_VERSION,
        .paused = feed->paused,
        .ended = feed->ended && !Feed_is_past(feed),
        .replay = feed->link.replay ? feed->speed : 0,
        .rate_s = feed->rate_s,
        .silent_s = patient || ui->bare ? 0 : silent,
        .untraced_children = ui->children.untraced,
        .display = {.ns = ui->ns,
                    .baseline = ui->model.baseline,
                    .tsc_hz = snapshot ? snapshot->tsc_hz : NAN},
    };
    fill_stretch(feed, status);
    fill_workers(feed->link.fleet, status);
    if (*feed->notice)
        status->notice = feed->notice;
}

static void ask_about_existing(struct Ui *ui)
{
    if (!*ui->existing || ui->prompt.kind != PROMPT_NONE)
        return;
    Prompt_open(&ui->prompt, PROMPT_OVERWRITE_EXPORT, ui->existing);
    ui->existing[0] = 0;
}

void Frame_draw(struct Ui *ui)
{
    struct Canvas *canvas = &ui->canvas;
    const struct View *view = Navigation_front(ui);
    struct Layout *layout = &ui->layout;
    struct Status status;
    if (Ui_lists_functions(ui))
        Layout_main(layout, canvas->width, canvas->height, ui->bare);
    else
        Layout_view(layout, canvas->width, canvas->height);
    Canvas_clear(canvas);
    ui->changed = false;
    if (!layout->too_small)
        ask_about_existing(ui);
    fill_status(ui, &status);
    if (layout->too_small) {
        Layout_draw_too_small(canvas);
        return;
    }
    if (!view->alone)
        Header_draw(canvas, &ui->model, &status);
    view->draw(ui, &status);
    if (layout->footer_y >= 0)
        Bottom_draw(ui);
}
