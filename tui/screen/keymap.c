// SPDX-License-Identifier: MIT
// See keymap.h.
#include "tui/screen/keymap.h"

#define CTRL(letter) ((letter)&0x1F)
#define F(number) (PRESS_F1 + (number)-1)

static const char move[] = "Move", find[] = "Find", show[] = "Show";
static const char process[] = "The traced process", leave[] = "Ocular";

const struct Binding KEYMAP[] = {
    {REQUEST_UP, 0, {PRESS_UP, 'k'}, "one row up", move, NULL, 0},
    {REQUEST_DOWN, 0, {PRESS_DOWN, 'j'}, "one row down", move, NULL, 0},
    {REQUEST_PAGE_UP, 0, {PRESS_PAGE_UP}, "one page up", move, NULL, 0},
    {REQUEST_PAGE_DOWN, 0, {PRESS_PAGE_DOWN}, "one page down", move, NULL, 0},
    {REQUEST_HOME,
     0,
     {PRESS_HOME, 'g'},
     "to the top, and stay there",
     move,
     NULL,
     0},
    {REQUEST_END, 0, {PRESS_END, 'G'}, "to the last row", move, NULL, 0},

    {REQUEST_SCROLL_UP, 0, {PRESS_WHEEL_UP}, "three rows up", move, NULL, 0},
    {REQUEST_SCROLL_DOWN,
     0,
     {PRESS_WHEEL_DOWN},
     "three rows down",
     move,
     NULL,
     0},
    {REQUEST_CLICK,
     0,
     {PRESS_CLICK},
     "select a row, open the selected one, sort by a title",
     move,
     NULL,
     0},
    {REQUEST_BACK,
     0,
     {PRESS_ESCAPE, PRESS_LEFT, PRESS_BACKSPACE},
     "back; drop the filter, the thread; stop an export",
     move,
     NULL,
     0},

    {REQUEST_SEARCH,
     CAN_SEARCH,
     {'/'},
     "search a name or path",
     find,
     "Search",
     5},
    {REQUEST_SEARCH_NEXT, CAN_SEARCH, {'n'}, "next match", find, NULL, 0},
    {REQUEST_SEARCH_PREVIOUS,
     CAN_SEARCH,
     {'N'},
     "previous match",
     find,
     NULL,
     0},
    {REQUEST_FILTER,
     CAN_FILTER,
     {F(4), '\\'},
     "only rows whose name or path has a text",
     find,
     "Filter",
     3},

    {REQUEST_SORT_NEXT,
     CAN_SORT,
     {F(6), '>'},
     "sort by the next column",
     show,
     "Sort",
     4},
    {REQUEST_SORT_PREVIOUS,
     CAN_SORT,
     {'<'},
     "sort by the previous column",
     show,
     NULL,
     0},
    {REQUEST_INVERT, CAN_SORT, {'I'}, "turn the order round", show, NULL, 0},
    {REQUEST_IDLE,
     CAN_HIDE,
     {'i'},
     "hide functions not called for a minute; show them",
     show,
     "Idle",
     8},
    {REQUEST_UNITS, CAN_UNITS, {'u'}, "cycles or time", show, "Units", 10},
    {REQUEST_PAUSE,
     CAN_PAUSE,
     {' ', 'Z'},
     "freeze the screen; all keys still work",
     show,
     "Pause",
     6},
    {REQUEST_FASTER,
     0,
     {'+', '='},
     "refresh more often; play a recording faster",
     show,
     NULL,
     0},
    {REQUEST_SLOWER,
     0,
     {'-'},
     "refresh less often; play a recording slower",
     show,
     NULL,
     0},
    {REQUEST_RESET,
     CAN_RESET,
     {'r'},
     "count from now; flame, callers, annotate: a window begins",
     show,
     "Reset",
     9},
    {REQUEST_BASELINE,
     CAN_COUNT,
     {'b'},
     "columns show the change since now; again: no more",
     show,
     "Baseline",
     7},
    {REQUEST_SAVE,
     0,
     {'E'},
     "save what is on screen as JSON",
     show,
     "Save",
     11},

    {REQUEST_REARM,
     CAN_FUNCTION | CAN_ASK,
     {'a'},
     "re-arm the selected function",
     process,
     "Re-arm",
     7},
    {REQUEST_REARM_ALL,
     CAN_ASK,
     {'A'},
     "re-arm all functions",
     process,
     NULL,
     0},
    {REQUEST_BUDGET,
     CAN_ASK,
     {'B'},
     "change the overhead budget",
     process,
     "Budget",
     12},
    {REQUEST_REFRESH,
     CAN_ASK,
     {F(5)},
     "a snapshot now, not only when the next one is due",
     process,
     NULL,
     0},
    {REQUEST_EXPORT,
     CAN_ASK,
     {'e'},
     "export the timeline, where the program runs",
     process,
     "Export",
     8},

    {REQUEST_REDRAW, 0, {CTRL('L')}, "draw the screen anew", leave, NULL, 0},
    {REQUEST_PROCESSES,
     CAN_LEAVE,
     {'p'},
     "the list of processes that serve",
     leave,
     "Processes",
     13},
    {REQUEST_QUIT,
     0,
     {'q', F(10)},
     "quit; the traced program runs on",
     leave,
     "Quit",
     2},
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
