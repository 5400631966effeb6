// SPDX-License-Identifier: MIT
// See json_output.h.
#include "tui/app/json_output.h"

#include "tui/model/json.h"
#include "tui/model/since.h"
#include "tui/views/navigation.h"

#include <errno.h>

int JsonOutput_write(const struct Ui *ui, struct Bytes *out)
{
    if (Navigation_front(ui)->json)
        return Navigation_front(ui)->json(ui, out);
    if (!ui->model.snapshot)
        return -ENODATA;
    struct Since since;
    int error = Since_make(&since, &ui->model, ui->view == VIEW_MAIN);
    if (error)
        return error;
    error = Json_snapshot(out, &since.snapshot, since.at_s, since.tid);
    Since_release(&since);
    return error;
}

const char *JsonOutput_note(const struct Ui *ui)
{
    const struct Model *model = &ui->model;
    bool part = ui->view == VIEW_MAIN && model->one_thread;
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
