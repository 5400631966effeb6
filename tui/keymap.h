// SPDX-License-Identifier: MIT
// The keys: one table says which key asks for what, names it on the bottom
// line and prints the help. What is not in the table does nothing. Pure
// functions, any thread.
#ifndef OCULAR_TUI_KEYMAP_H
#define OCULAR_TUI_KEYMAP_H

#include <stddef.h>
#include <stdint.h>

// A key is its code point, or one of these.
enum Key {
    PRESS_NONE = 0,
    PRESS_TAB = 9,
    PRESS_ENTER = 13,
    PRESS_ESCAPE = 27,
    PRESS_BACKSPACE = 127,
    PRESS_UP = 0x110000,
    PRESS_DOWN,
    PRESS_LEFT,
    PRESS_RIGHT,
    PRESS_PAGE_UP,
    PRESS_PAGE_DOWN,
    PRESS_HOME,
    PRESS_END,
    PRESS_DELETE,
    PRESS_F1, // F2.. follow
    PRESS_F12 = PRESS_F1 + 11
};

enum Request {
    REQUEST_NONE,
    REQUEST_UP,
    REQUEST_DOWN,
    REQUEST_PAGE_UP,
    REQUEST_PAGE_DOWN,
    REQUEST_HOME,
    REQUEST_END,
    REQUEST_SEARCH,
    REQUEST_SEARCH_NEXT,
    REQUEST_SEARCH_PREVIOUS,
    REQUEST_FILTER,
    REQUEST_BACK,
    REQUEST_SORT_NEXT,
    REQUEST_SORT_PREVIOUS,
    REQUEST_INVERT,
    REQUEST_UNITS,
    REQUEST_PAUSE,
    REQUEST_FASTER,
    REQUEST_SLOWER,
    REQUEST_RESET,
    REQUEST_REARM,
    REQUEST_REARM_ALL,
    REQUEST_BUDGET,
    REQUEST_EXPORT,
    REQUEST_SAVE,
    REQUEST_HELP,
    REQUEST_REDRAW,
    REQUEST_QUIT
};

#define BINDING_KEYS 4

struct Binding {
    enum Request request;
    uint32_t keys[BINDING_KEYS]; // 0 ends
    const char *about;           // for the help
    const char *group;           // its heading in the help
    const char *label;           // on the bottom line, or NULL
    int importance;              // there: the largest drops first
};

extern const struct Binding KEYMAP[];
extern const size_t KEYMAP_COUNT;

enum Request Keymap_request(uint32_t key);

#define KEY_NAME_MAX 16

// "F6", "PgUp", "Space", "a"; returns name.
const char *Key_name(char name[KEY_NAME_MAX], uint32_t key);
// Reads one key of a --keys text ("jj<Enter>", "<lt>" is "<"), *at advanced.
// 0 at the end, or where no key can be read (then *at stays).
uint32_t Key_parse(const char **at);

#endif
