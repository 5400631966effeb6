// SPDX-License-Identifier: MIT
#include "tui/views/navigation.h"

int View_request(const struct View *view, uint32_t key)
{
    const struct Binding *own = view->own;
    for (; own && own->keys[0]; own++)
        if (Binding_has(own, key))
            return own->request;
    return Keymap_request(key);
}

enum ViewId View_opened_by(const struct View *const *views, uint32_t key)
{
    int id = 0;
    while (id < VIEW_COUNT && !Binding_has(&views[id]->opens, key))
        id++;
    return (enum ViewId)id;
}

const struct View *Navigation_front(const struct Ui *ui)
{
    return ui->views[ui->view];
}

uint64_t Navigation_function(const struct Ui *ui)
{
    const struct View *view = Navigation_front(ui);
    uint64_t id = view->function ? view->function(ui) : 0;
    return Model_row_of(&ui->model, id) ? id : 0;
}

unsigned Navigation_reach(const struct Ui *ui)
{
    const struct Feed *feed = ui->feed;
    unsigned ask = Feed_is_replay(feed) || feed->ended ? 0 : CAN_ASK;
    unsigned leave = Feed_is_replay(feed) || feed->recording ? 0 : CAN_LEAVE;
    if (Feed_is_past(feed))
        return CAN_STRETCH | (ui->comparison.runs ? CAN_COMPARE : 0);
    return ask | leave | (feed->ended && !feed->paused ? 0 : CAN_PAUSE);
}

unsigned Navigation_can(const struct Ui *ui)
{
    unsigned can = Navigation_front(ui)->can | Navigation_reach(ui);
    if (Feed_is_past(ui->feed))
        can &= ~(unsigned)(CAN_COUNT | CAN_RESET);
    return Navigation_function(ui) ? can : can & ~(unsigned)CAN_FUNCTION;
}

// Shows a message why the process or the recording cannot serve a request.
// `beyond` are those abilities that the request needs and that are missing.
static void say_beyond(struct Ui *ui, unsigned beyond)
{
    const struct Feed *feed = ui->feed;
    if (beyond & CAN_COMPARE)
        Ui_say(ui, true,
               "Two recordings can be compared: ocular-top a.ocular "
               "b.ocular.");
    else if (beyond & CAN_STRETCH)
        Ui_say(ui, true,
               "Only of a recorded run a stretch can be shown: "
               "ocular-top run.ocular.");
    else if (beyond & (CAN_COUNT | CAN_RESET))
        Ui_say(ui, true,
               "This run is over, and nothing counts from now on: "
               "[ and ] choose a part of it.");
    else if (Feed_is_past(feed) && beyond & CAN_ASK)
        Ui_say(ui, true,
               "That needs a live program. `ocular convert` makes "
               "files of a recording.");
    else if (beyond & CAN_PAUSE)
        Ui_say(ui, true, "It has ended: nothing more is to come.");
    else if (Feed_is_replay(feed))
        Ui_say(ui, true,
               beyond & CAN_ASK
                   ? "That needs a live program, and this is a recording."
                   : "This is a recording of one process.");
    else if (beyond & CAN_ASK)
        Ui_say(ui, true, "That needs the program, and it has ended.");
    else
        Ui_say(ui, true, "One process is recorded: Q ends the recording.");
}

bool Navigation_refuses(struct Ui *ui, const struct Binding *binding)
{
    const struct View *view = Navigation_front(ui);
    unsigned needs = binding->ability & (CAN_REACH | CAN_STRETCH | CAN_COMPARE);
    unsigned beyond = needs & ~Navigation_reach(ui);
    if (Feed_is_past(ui->feed))
        beyond |= binding->ability & (CAN_COUNT | CAN_RESET);
    if (beyond)
        say_beyond(ui, beyond);
    else if (binding->ability & ~view->can & ~needs)
        Ui_say(ui, true, "%s: this key does nothing here.", view->name);
    else if ((binding->ability & ~Navigation_can(ui)) == 0)
        return false;
    else if (view->function(ui))
        Ui_say(ui, true, "The process does not list this function.");
    else
        Ui_say(ui, true, "No function is selected here.");
    return true;
}

// ui->way contains the views behind the shown view, each at most once. If the
// user opens one of these views again, the viewer goes back to it.
void Navigation_open(struct Ui *ui, enum ViewId id)
{
    const struct View *view = ui->views[id];
    uint64_t function = Navigation_function(ui);
    const struct View *left = Navigation_front(ui);
    int depth = 0;
    if (id == ui->view)
        return;
    ui->annotate.line = left->line ? left->line(ui) : 0;
    while (depth < ui->depth && ui->way[depth] != id)
        depth++;
    if (depth == ui->depth)
        ui->way[ui->depth++] = ui->view;
    else
        ui->depth = depth;
    ui->view = id;
    if (view->open)
        view->open(ui, function);
    if (view->want)
        view->want(ui);
}

bool Navigation_back(struct Ui *ui)
{
    if (!ui->depth)
        return false;
    ui->view = ui->way[--ui->depth];
    if (Navigation_front(ui)->want)
        Navigation_front(ui)->want(ui);
    return true;
}

bool Navigation_enter(struct Ui *ui)
{
    enum ViewId opened = View_opened_by(ui->views, PRESS_ENTER);
    if (opened == VIEW_COUNT || opened == ui->view ||
        Navigation_refuses(ui, &ui->views[opened]->opens))
        return false;
    Navigation_open(ui, opened);
    return true;
}
