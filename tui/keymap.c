// SPDX-License-Identifier: MIT
// See keymap.h.
#include "tui/keymap.h"

#include "tui/text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define CTRL(letter) ((letter)&0x1F)
#define F(number) (PRESS_F1 + (number)-1)

static const char move[] = "Move", find[] = "Find", show[] = "Show";
static const char process[] = "The traced process", leave[] = "Ocular";

const struct Binding KEYMAP[] = {
    {REQUEST_UP, {PRESS_UP, 'k'}, "one row up", move, NULL, 0},
    {REQUEST_DOWN, {PRESS_DOWN, 'j'}, "one row down", move, NULL, 0},
    {REQUEST_PAGE_UP, {PRESS_PAGE_UP}, "one page up", move, NULL, 0},
    {REQUEST_PAGE_DOWN, {PRESS_PAGE_DOWN}, "one page down", move, NULL, 0},
    {REQUEST_HOME,
     {PRESS_HOME, 'g'},
     "to the top, and stay there",
     move,
     NULL,
     0},
    {REQUEST_END, {PRESS_END, 'G'}, "to the last row", move, NULL, 0},

    {REQUEST_HELP, {F(1), '?', 'h'}, "this help", leave, "Help", 1},

    {REQUEST_SEARCH, {'/'}, "search a name or path", find, "Search", 5},
    {REQUEST_SEARCH_NEXT, {'n'}, "next match", find, NULL, 0},
    {REQUEST_SEARCH_PREVIOUS, {'N'}, "previous match", find, NULL, 0},
    {REQUEST_FILTER,
     {F(4), '\\'},
     "only rows whose name or path has a text",
     find,
     "Filter",
     3},
    {REQUEST_BACK,
     {PRESS_ESCAPE},
     "drop the filter; stop an export",
     find,
     NULL,
     0},

    {REQUEST_SORT_NEXT,
     {F(6), '>'},
     "sort by the next column",
     show,
     "Sort",
     4},
    {REQUEST_SORT_PREVIOUS,
     {'<'},
     "sort by the previous column",
     show,
     NULL,
     0},
    {REQUEST_INVERT, {'I'}, "turn the order round", show, NULL, 0},
    {REQUEST_UNITS, {'u'}, "cycles or time", show, "Units", 10},
    {REQUEST_PAUSE,
     {' ', 'Z'},
     "freeze the screen; all keys still work",
     show,
     "Pause",
     6},
    {REQUEST_FASTER, {'+', '='}, "refresh more often", show, NULL, 0},
    {REQUEST_SLOWER, {'-'}, "refresh less often", show, NULL, 0},
    {REQUEST_RESET,
     {'r'},
     "count calls, cycles and events from now",
     show,
     "Reset",
     9},
    {REQUEST_SAVE, {'E'}, "save what is on screen as JSON", show, "Save", 11},

    {REQUEST_REARM,
     {'a'},
     "re-arm the selected function",
     process,
     "Re-arm",
     7},
    {REQUEST_REARM_ALL, {'A'}, "re-arm all functions", process, NULL, 0},
    {REQUEST_BUDGET,
     {'B'},
     "change the overhead budget",
     process,
     "Budget",
     12},
    {REQUEST_EXPORT,
     {'e'},
     "export the timeline, where the program runs",
     process,
     "Export",
     8},

    {REQUEST_REDRAW, {CTRL('L')}, "draw the screen anew", leave, NULL, 0},
    {REQUEST_QUIT,
     {'q', F(10)},
     "quit; the traced program runs on",
     leave,
     "Quit",
     2},
};

const size_t KEYMAP_COUNT = sizeof KEYMAP / sizeof KEYMAP[0];

enum Request Keymap_request(uint32_t key)
{
    for (size_t i = 0; key && i < KEYMAP_COUNT; i++)
        for (int k = 0; k < BINDING_KEYS; k++)
            if (KEYMAP[i].keys[k] == key)
                return KEYMAP[i].request;
    return REQUEST_NONE;
}

static const struct {
    uint32_t key;
    const char *name;
} names[] = {
    {' ', "Space"},
    {PRESS_TAB, "Tab"},
    {PRESS_ENTER, "Enter"},
    {PRESS_ESCAPE, "Esc"},
    {PRESS_BACKSPACE, "Backspace"},
    {PRESS_UP, "Up"},
    {PRESS_DOWN, "Down"},
    {PRESS_LEFT, "Left"},
    {PRESS_RIGHT, "Right"},
    {PRESS_PAGE_UP, "PgUp"},
    {PRESS_PAGE_DOWN, "PgDn"},
    {PRESS_HOME, "Home"},
    {PRESS_END, "End"},
    {PRESS_DELETE, "Del"},
};

const char *Key_name(char name[KEY_NAME_MAX], uint32_t key)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].key == key)
            return strcpy(name, names[i].name);
    if (key >= PRESS_F1 && key <= PRESS_F12)
        snprintf(name, KEY_NAME_MAX, "F%u", (unsigned)(key - PRESS_F1 + 1));
    else if (key < 0x20)
        snprintf(name, KEY_NAME_MAX, "Ctrl-%c", (char)(key + 0x40));
    else
        name[Text_encode(name, key)] = 0;
    return name;
}

// The key of a name without its brackets, 0 if there is none such.
static uint32_t named(const char *name, size_t length)
{
    unsigned number;
    char text[KEY_NAME_MAX];
    if (length >= sizeof text)
        return 0;
    memcpy(text, name, length);
    text[length] = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(names[i].name, text) == 0)
            return names[i].key;
    if (strcasecmp(text, "lt") == 0)
        return '<';
    if ((text[0] == 'F' || text[0] == 'f') &&
        sscanf(text + 1, "%2u", &number) == 1 && number >= 1 && number <= 12)
        return PRESS_F1 + number - 1;
    if (strncasecmp(text, "Ctrl-", 5) == 0 && length == 6)
        return CTRL((unsigned char)text[5]);
    return 0;
}

uint32_t Key_parse(const char **at)
{
    if (**at != '<')
        return Text_decode(at);
    const char *end = strchr(*at, '>');
    uint32_t key = end ? named(*at + 1, (size_t)(end - *at - 1)) : 0;
    if (key)
        *at = end + 1;
    return key;
}
