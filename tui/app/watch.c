// SPDX-License-Identifier: MIT
// See watch.h.
#include "tui/app/watch.h"

#include "tui/app/batch.h"
#include "tui/app/live.h"
#include "tui/views/view_table.h"

#include <stdio.h>
#include <string.h>

int Watch_run(const struct Options *options, const struct Served *served,
              struct Terminal *terminal, bool *leave, char why[WATCH_WHY])
{
    struct Feed feed;
    struct Ui ui;
    struct Recording recording;
    int error =
        options->replay
            ? Feed_replay(&feed, options->replay, terminal, why, WATCH_WHY)
            : Feed_open(&feed, served, options->delay_s, why, WATCH_WHY);
    if (error)
        return error;
    if (options->record) {
        error = Recording_open(&recording, options->record, why, WATCH_WHY);
        if (error) {
            Feed_close(&feed);
            return error;
        }
        Feed_record(&feed, &recording);
    }
    Ui_init(&ui, VIEWS, &feed, options->ascii);
    ui.model.sort = options->sort;
    if (options->filter)
        Model_filter(&ui.model, options->filter);
    if (terminal) {
        error = Live_run(&ui, terminal, options->frames);
        if (error)
            snprintf(why, WATCH_WHY, "cannot go on: %s", strerror(-error));
    } else {
        error = Batch_run(&ui, options, why, WATCH_WHY);
    }
    *leave = ui.leave;
    Ui_release(&ui);
    Feed_close(&feed);
    if (!options->record)
        return error;
    int failed = Recording_close(&recording);
    if (failed && !error)
        snprintf(why, WATCH_WHY, "%s is not complete: %s", options->record,
                 strerror(-failed));
    return error ? error : failed;
}
