// SPDX-License-Identifier: MIT
// See view.h.
#include "tui/views/view.h"

#include "tui/app/screen.h"
#include "tui/views/view_annotate.h"
#include "tui/views/view_callers.h"
#include "tui/views/view_flame.h"
#include "tui/views/view_help.h"
#include "tui/views/view_main.h"
#include "tui/views/view_opcodes.h"
#include "tui/views/view_threads.h"

static const char group[] = "Views";

// The order is that of the help and of the bottom line.
const struct View VIEWS[VIEW_COUNT] = {
    [VIEW_MAIN] = {.name = "Functions",
                   .can = CAN_SORT | CAN_SEARCH | CAN_FILTER | CAN_FUNCTION |
                          CAN_UNITS | CAN_COUNT | CAN_RESET | CAN_HIDE,
                   .draw = ViewMain_show,
                   .press = ViewMain_press,
                   .find = ViewMain_find,
                   .keep = ViewMain_keep,
                   .back = ViewMain_back,
                   .function = ViewMain_function},
    [VIEW_HELP] =
        {.name = "Help",
         .opens = {0, 0, {PRESS_F1, '?', 'h'}, "this help", group, "Help", 1},
         .own = VIEW_HELP_KEYS,
         .alone = true,
         .open = ViewHelp_open,
         .draw = ViewHelp_show,
         .press = ViewHelp_press},
    [VIEW_ANNOTATE] = {.name = "Annotate",
                       .opens = {0,
                                 CAN_FUNCTION,
                                 {PRESS_ENTER, PRESS_RIGHT},
                                 "annotate: a function's source and bytecode",
                                 group,
                                 "Annotate",
                                 4},
                       .own = VIEW_ANNOTATE_KEYS,
                       .can = CAN_SEARCH | CAN_FUNCTION | CAN_UNITS | CAN_RESET,
                       .open = ViewAnnotate_open,
                       .want = ViewAnnotate_want,
                       .draw = ViewAnnotate_show,
                       .press = ViewAnnotate_press,
                       .find = ViewAnnotate_find,
                       .function = ViewAnnotate_function,
                       .json = ViewAnnotate_json},
    [VIEW_CALLERS] = {.name = "Callers",
                      .opens = {0,
                                CAN_FUNCTION,
                                {'c'},
                                "callers and callees of the selected function",
                                group,
                                "Callers",
                                8},
                      .own = VIEW_CALLERS_KEYS,
                      .can = CAN_SEARCH | CAN_FUNCTION | CAN_RESET,
                      .open = ViewCallers_open,
                      .want = ViewCallers_want,
                      .draw = ViewCallers_show,
                      .press = ViewCallers_press,
                      .find = ViewCallers_find,
                      .function = ViewCallers_function},
    [VIEW_OPCODES] = {.name = "Opcodes",
                      .opens = {0,
                                0,
                                {'o'},
                                "opcodes: the live log of specialisation",
                                group,
                                "Opcodes",
                                7},
                      .own = VIEW_OPCODES_KEYS,
                      .can = CAN_SEARCH | CAN_FILTER | CAN_FUNCTION |
                             CAN_COUNT | CAN_RESET,
                      .draw = ViewOpcodes_show,
                      .press = ViewOpcodes_press,
                      .find = ViewOpcodes_find,
                      .function = ViewOpcodes_function},
    [VIEW_THREADS] = {.name = "Threads",
                      .opens =
                          {0,
                           0,
                           {'t'},
                           "threads: shares of each, one or all",
                           group,
                           "Threads",
                           8},
                      .own = VIEW_THREADS_KEYS,
                      .can = CAN_SORT | CAN_SEARCH | CAN_COUNT | CAN_RESET,
                      .draw = ViewThreads_show,
                      .press = ViewThreads_press,
                      .find = ViewThreads_find},
    [VIEW_FLAME] =
        {
            .name = "Flame",
            .opens = {0,
                      0,
                      {'f'},
                      "flame graph: CPU time by who calls whom",
                      group,
                      "Flame",
                      9},
            .own = VIEW_FLAME_KEYS,
            .can = CAN_SEARCH | CAN_FUNCTION | CAN_RESET,
            .open = ViewFlame_open,
            .want = ViewFlame_want,
            .draw = ViewFlame_show,
            .press = ViewFlame_press,
            .find = ViewFlame_find,
            .keep = ViewFlame_keep,
            .back = ViewFlame_back,
            .function = ViewFlame_function,
            .json = ViewFlame_json},
};

const struct View *View_of(const struct Screen *screen)
{
    return &VIEWS[screen->view];
}

uint64_t View_function(const struct Screen *screen)
{
    const struct View *view = View_of(screen);
    uint64_t id = view->function ? view->function(screen) : 0;
    return Model_row_of(&screen->model, id) ? id : 0;
}

unsigned View_reach(const struct Screen *screen)
{
    const struct Feed *feed = screen->feed;
    unsigned ask = feed->replay || feed->ended ? 0 : CAN_ASK;
    unsigned leave = feed->replay || feed->recording ? 0 : CAN_LEAVE;
    return ask | leave | (feed->ended && !feed->paused ? 0 : CAN_PAUSE);
}

unsigned View_can(const struct Screen *screen)
{
    unsigned can = View_of(screen)->can | View_reach(screen);
    return View_function(screen) ? can : can & ~(unsigned)CAN_FUNCTION;
}

// Why a recording, or a process that has ended, does not do that.
static void say_beyond(struct Screen *screen, unsigned beyond)
{
    const struct Feed *feed = screen->feed;
    if (beyond & CAN_PAUSE)
        Screen_say(screen, true, "It has ended: nothing more is to come.");
    else if (feed->replay)
        Screen_say(screen, true,
                   beyond & CAN_ASK
                       ? "That needs a live program, and this is a recording."
                       : "This is a recording of one process.");
    else if (beyond & CAN_ASK)
        Screen_say(screen, true, "That needs the program, and it has ended.");
    else
        Screen_say(screen, true,
                   "One process is recorded: q ends the recording.");
}

bool View_refuses(struct Screen *screen, const struct Binding *binding)
{
    const struct View *view = View_of(screen);
    unsigned beyond = binding->ability & CAN_REACH & ~View_reach(screen);
    if (beyond)
        say_beyond(screen, beyond);
    else if (binding->ability & ~view->can & ~CAN_REACH)
        Screen_say(screen, true, "%s: there is nothing to do that with here.",
                   view->name);
    else if ((binding->ability & ~View_can(screen)) == 0)
        return false;
    else if (view->function(screen))
        Screen_say(screen, true, "The process does not list this function.");
    else
        Screen_say(screen, true, "No function is selected here.");
    return true;
}

int View_request(const struct View *view, uint32_t key)
{
    const struct Binding *own = view->own;
    for (; own && own->keys[0]; own++)
        if (Binding_has(own, key))
            return own->request;
    return Keymap_request(key);
}

enum ViewId View_opened_by(uint32_t key)
{
    int id = 0;
    while (id < VIEW_COUNT && !Binding_has(&VIEWS[id].opens, key))
        id++;
    return (enum ViewId)id;
}

// A view is on the way back at most once: opened again, it is gone back to.
void View_open(struct Screen *screen, enum ViewId id)
{
    const struct View *view = &VIEWS[id];
    uint64_t function = View_function(screen);
    int depth = 0;
    if (id == screen->view)
        return;
    while (depth < screen->depth && screen->way[depth] != id)
        depth++;
    if (depth == screen->depth)
        screen->way[screen->depth++] = screen->view;
    else
        screen->depth = depth;
    screen->view = id;
    if (view->open)
        view->open(screen, function);
    if (view->want)
        view->want(screen);
}

bool View_back(struct Screen *screen)
{
    if (!screen->depth)
        return false;
    screen->view = screen->way[--screen->depth];
    if (View_of(screen)->want)
        View_of(screen)->want(screen);
    return true;
}

bool View_enter(struct Screen *screen)
{
    enum ViewId opened = View_opened_by(PRESS_ENTER);
    if (opened == VIEW_COUNT || opened == screen->view ||
        View_refuses(screen, &VIEWS[opened].opens))
        return false;
    View_open(screen, opened);
    return true;
}
