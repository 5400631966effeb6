// SPDX-License-Identifier: MIT
#include "tui/screen/keymap.h"

#define CTRL(letter) ((letter)&0x1F)
#define F(number) (PRESS_F1 + (number)-1)

static const char move[] = "Move", find[] = "Find", show[] = "Show";
static const char process[] = "The traced process", leave[] = "Ocular";

const struct Binding KEYMAP[] = {
    BINDING(REQUEST_UP, 0, "one row up", move, NULL, 0, PRESS_UP, 'k'),
    BINDING(REQUEST_DOWN, 0, "one row down", move, NULL, 0, PRESS_DOWN, 'j'),
    BINDING(REQUEST_PAGE_UP, 0, "one page up", move, NULL, 0, PRESS_PAGE_UP),
    BINDING(REQUEST_PAGE_DOWN, 0, "one page down", move, NULL, 0,
            PRESS_PAGE_DOWN),
    BINDING(REQUEST_HOME, 0, "to the top, and stay there", move, NULL, 0,
            PRESS_HOME, 'g'),
    BINDING(REQUEST_END, 0, "to the last row", move, NULL, 0, PRESS_END, 'G'),

    BINDING(REQUEST_SCROLL_UP, 0, "three rows up", move, NULL, 0,
            PRESS_WHEEL_UP),
    BINDING(REQUEST_SCROLL_DOWN, 0, "three rows down", move, NULL, 0,
            PRESS_WHEEL_DOWN),
    BINDING(REQUEST_CLICK, 0,
            "select a row, open the selected one, sort by a title", move, NULL,
            0, PRESS_CLICK),
    BINDING(REQUEST_BACK, 0,
            "back; drop the filter, thread or search; stop an export", move,
            NULL, 0, PRESS_ESCAPE, PRESS_LEFT, PRESS_BACKSPACE),

    BINDING(REQUEST_SEARCH, CAN_SEARCH, "search a name or path", find, "Search",
            5, '/'),
    BINDING(REQUEST_SEARCH_NEXT, CAN_SEARCH, "next match", find, NULL, 0, 'n'),
    BINDING(REQUEST_SEARCH_PREVIOUS, CAN_SEARCH, "previous match", find, NULL,
            0, 'N'),
    BINDING(REQUEST_FILTER, CAN_FILTER,
            "only rows whose name or path has a text", find, "Filter", 3, F(4),
            '\\'),

    BINDING(REQUEST_SORT_MENU, CAN_SORT,
            "choose the column to sort by; of threads, the next", show, "Sort",
            4, F(6)),
    BINDING(REQUEST_SORT_NEXT, CAN_SORT, "sort by the next column", show, NULL,
            0, '>'),
    BINDING(REQUEST_SORT_PREVIOUS, CAN_SORT, "sort by the previous column",
            show, NULL, 0, '<'),
    BINDING(REQUEST_INVERT, CAN_SORT, "turn the order round", show, NULL, 0,
            'I'),
    BINDING(REQUEST_IDLE, CAN_HIDE,
            "hide functions not called for a minute; show them", show, "Idle",
            8, 'i'),
    BINDING(REQUEST_OWN_CODE, CAN_OWN_CODE,
            "only the program's own code, no libraries; all code", show,
            "Own code", 13, 'O'),
    BINDING(REQUEST_UNITS, CAN_UNITS, "cycles or time", show, "Units", 10, 'u'),
    BINDING(REQUEST_PAUSE, CAN_PAUSE, "freeze the screen; all keys still work",
            show, "Pause", 6, ' ', 'Z'),
    BINDING(REQUEST_FASTER, 0, "refresh more often; play a recording faster",
            show, NULL, 0, '+', '='),
    BINDING(REQUEST_SLOWER, 0, "refresh less often; play a recording slower",
            show, NULL, 0, '-'),
    BINDING(REQUEST_RESET, CAN_RESET,
            "count from now; flame, callers, annotate: a window begins", show,
            "Reset", 9, 'r'),
    BINDING(REQUEST_BASELINE, CAN_COUNT,
            "columns show the change since now; again: no more", show,
            "Baseline", 7, 'b'),
    BINDING(REQUEST_FROM, CAN_STRETCH,
            "of a recorded run, show it from there on", show, "From", 6, '['),
    BINDING(REQUEST_TO, CAN_STRETCH, "of a recorded run, show it up to there",
            show, "To", 6, ']'),
    BINDING(REQUEST_SAVE, 0, "save what is on screen as JSON", show, "Save", 11,
            'E'),

    BINDING(REQUEST_REARM, CAN_FUNCTION | CAN_ASK,
            "re-arm the selected function", process, "Re-arm", 7, 'a'),
    BINDING(REQUEST_REARM_ALL, CAN_ASK, "re-arm all functions", process, NULL,
            0, 'A'),
    BINDING(REQUEST_BUDGET, CAN_ASK, "change the overhead budget", process,
            "Budget", 12, 'B'),
    BINDING(REQUEST_REFRESH, CAN_ASK,
            "a snapshot now, not only when the next one is due", process, NULL,
            0, F(5)),
    BINDING(REQUEST_EXPORT, CAN_ASK,
            "export the timeline, where the program runs", process, "Export", 8,
            'e'),

    BINDING(REQUEST_REDRAW, 0, "draw the screen anew", leave, NULL, 0,
            CTRL('L')),
    BINDING(REQUEST_PROCESSES, CAN_LEAVE, "the list of processes that serve",
            leave, "Processes", 13, 'p'),
    BINDING(REQUEST_CLOSE, 0, "close the view; on the main screen quit", leave,
            "Quit", 2, 'q'),
    BINDING(REQUEST_QUIT, 0, "quit; the traced program runs on", leave, NULL, 0,
            'Q', F(10)),
};

const size_t KEYMAP_COUNT = sizeof KEYMAP / sizeof KEYMAP[0];

bool Binding_has(const struct Binding *binding, uint32_t key)
{
    if (Key_is_click(key))
        key = PRESS_CLICK;
    for (int k = 0; key && k < BINDING_KEYS && binding->keys[k]; k++)
        if (binding->keys[k] == key)
            return true;
    return false;
}

const struct Binding *Keymap_find(uint32_t key)
{
    for (size_t i = 0; i < KEYMAP_COUNT; i++)
        if (Binding_has(&KEYMAP[i], key))
            return &KEYMAP[i];
    return NULL;
}

int Keymap_request(uint32_t key)
{
    const struct Binding *binding = Keymap_find(key);
    return binding ? binding->request : REQUEST_NONE;
}
