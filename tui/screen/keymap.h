// SPDX-License-Identifier: MIT
// The keys that mean the same in every view: one table says which key asks for
// what, names it on the bottom line and prints the help. tui/views/view.h has
// the keys that open views, and those of one view alone. What is in no table
// does nothing. Pure functions, any thread.
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
    REQUEST_CLICK, // Key_x, Key_y say where
    REQUEST_SEARCH,
    REQUEST_SEARCH_NEXT,
    REQUEST_SEARCH_PREVIOUS,
    REQUEST_FILTER,
    REQUEST_BACK,
    REQUEST_SORT_NEXT,
    REQUEST_SORT_PREVIOUS,
    REQUEST_INVERT,
    REQUEST_IDLE,
    REQUEST_UNITS,
    REQUEST_PAUSE,
    REQUEST_FASTER,
    REQUEST_SLOWER,
    REQUEST_RESET,
    REQUEST_BASELINE,
    REQUEST_REARM,
    REQUEST_REARM_ALL,
    REQUEST_BUDGET,
    REQUEST_EXPORT,
    REQUEST_SAVE,
    REQUEST_REDRAW,
    REQUEST_PROCESSES,
    REQUEST_QUIT,
    REQUEST_OWN // a view's own requests: this and what follows
};

#define BINDING_KEYS 4

// What only some views can do (View.can), and only while they can (View_can).
enum Ability {
    CAN_SORT = 1,
    CAN_SEARCH = 2,
    CAN_FILTER = 4,
    CAN_FUNCTION = 8, // a function is selected in it: View.function
    CAN_UNITS = 16,   // it shows cycles
    CAN_COUNT = 32,   // it shows counts: since the start, a reset, a baseline
    CAN_HIDE = 512,   // it lists functions, the idle ones too
    CAN_RESET = 1024, // something in it may begin now
    // In every view, by what is watched (View_reach):
    CAN_ASK = 64,    // a process that does what it is asked: no recording
    CAN_LEAVE = 128, // other processes may be chosen
    CAN_PAUSE = 256, // something is still to come
    CAN_REACH = CAN_ASK | CAN_LEAVE | CAN_PAUSE
};

struct Binding {
    int request;      // enum Request, or a view's own
    unsigned ability; // that the view must have; 0 = works everywhere
    uint32_t keys[BINDING_KEYS]; // 0 ends
    const char *about;           // for the help
    const char *group;           // its heading in the help
    const char *label;           // on the bottom line, or NULL
    int importance;              // there: the largest drops first
};

extern const struct Binding KEYMAP[];
extern const size_t KEYMAP_COUNT;

bool Binding_has(const struct Binding *binding, uint32_t key);
const struct Binding *Keymap_find(uint32_t key); // or NULL
int Keymap_request(uint32_t key);                // enum Request

#endif
