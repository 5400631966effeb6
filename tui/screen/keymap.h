// SPDX-License-Identifier: MIT
// The keys that mean the same in every view. One table says what a key asks
// for, and has the words of the bottom line and of the help. The table of views
// has the keys that open views, and each view has its own. A key that is in no
// table does nothing. Pure functions, any thread.
#ifndef OCULAR_TUI_SCREEN_KEYMAP_H
#define OCULAR_TUI_SCREEN_KEYMAP_H

#include "tui/screen/key.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum Request {
    REQUEST_NONE,
    REQUEST_UP,
    REQUEST_DOWN,
    REQUEST_PAGE_UP,
    REQUEST_PAGE_DOWN,
    REQUEST_HOME,
    REQUEST_END,
    REQUEST_SCROLL_UP,
    REQUEST_SCROLL_DOWN,
    REQUEST_CLICK, // Key_x and Key_y have the place
    REQUEST_SEARCH,
    REQUEST_SEARCH_NEXT,
    REQUEST_SEARCH_PREVIOUS,
    REQUEST_FILTER,
    REQUEST_BACK,
    REQUEST_SORT_MENU,
    REQUEST_SORT_NEXT,
    REQUEST_SORT_PREVIOUS,
    REQUEST_INVERT,
    REQUEST_IDLE,
    REQUEST_UNITS,
    REQUEST_PAUSE,
    REQUEST_FASTER,
    REQUEST_SLOWER,
    REQUEST_REFRESH,
    REQUEST_RESET,
    REQUEST_BASELINE,
    REQUEST_REARM,
    REQUEST_REARM_ALL,
    REQUEST_BUDGET,
    REQUEST_EXPORT,
    REQUEST_SAVE,
    REQUEST_REDRAW,
    REQUEST_PROCESSES,
    REQUEST_CLOSE, // the view; on the main screen it quits
    REQUEST_QUIT,
    REQUEST_OWN // a view's own requests begin here
};

#define BINDING_KEYS 4

// Abilities that only some views have (View.can), and only at times
// (Navigation_can).
enum Ability {
    CAN_SORT = 1,
    CAN_SEARCH = 2,
    CAN_FILTER = 4,
    CAN_FUNCTION = 8, // it has a selected function: View.function
    CAN_UNITS = 16,   // it shows cycles
    CAN_COUNT = 32,   // it shows counts since the start, a reset or a baseline
    CAN_HIDE = 512,   // it lists functions, and can hide idle ones
    CAN_RESET = 1024, // its counts or its window can begin now
    // In every view, by what it watches (Navigation_reach):
    CAN_ASK = 64,    // a live process, which takes requests
    CAN_LEAVE = 128, // the user may choose another process
    CAN_PAUSE = 256, // more snapshots may come
    CAN_REACH = CAN_ASK | CAN_LEAVE | CAN_PAUSE
};

struct Binding {
    int request;      // enum Request, or a view's own
    unsigned ability; // enum Ability that it needs; 0: works everywhere
    uint32_t keys[BINDING_KEYS]; // 0 ends
    const char *about;           // for the help
    const char *group;           // its heading in the help
    const char *label;           // on the bottom line; NULL: it is not there
    int importance;              // on the bottom line: the largest drops first
};

extern const struct Binding KEYMAP[];
extern const size_t KEYMAP_COUNT;

bool Binding_has(const struct Binding *binding, uint32_t key);
const struct Binding *Keymap_find(uint32_t key); // or NULL
int Keymap_request(uint32_t key);                // enum Request

#endif
