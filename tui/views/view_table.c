// SPDX-License-Identifier: MIT
// See view_table.h.
#include "tui/views/view_table.h"

#include "tui/views/view_annotate.h"
#include "tui/views/view_callers.h"
#include "tui/views/view_flame.h"
#include "tui/views/view_help.h"
#include "tui/views/view_main.h"
#include "tui/views/view_opcodes.h"
#include "tui/views/view_threads.h"

static const char group[] = "Views";

// The help and the bottom line list views in this order.
const struct View VIEWS[VIEW_COUNT] = {
    [VIEW_MAIN] = {.name = "Functions",
                   .can = CAN_SORT | CAN_SEARCH | CAN_FILTER | CAN_FUNCTION |
                          CAN_UNITS | CAN_COUNT | CAN_RESET | CAN_HIDE,
                   .draw = ViewMain_show,
                   .press = ViewMain_press,
                   .find = ViewMain_find,
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
                       .reset = ViewAnnotate_reset,
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
                      .reset = ViewCallers_reset,
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
            .reset = ViewFlame_reset,
            .press = ViewFlame_press,
            .find = ViewFlame_find,
            .begin_search = ViewFlame_begin_search,
            .restart_search = ViewFlame_restart_search,
            .function = ViewFlame_function,
            .json = ViewFlame_json},
};
