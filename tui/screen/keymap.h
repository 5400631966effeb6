// SPDX-License-Identifier: MIT
// KEYMAP lists the keys that have the same effect in every view. An entry
// consists of the keys, the request, and the texts for the bottom line and for
// the help. The keys that open views are in the table of views. A view may have
// keys of its own. All other keys do nothing. The functions are pure, and any
// thread may call them.
#pragma once

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
    REQUEST_CLICK, // Key_x and Key_y return the clicked cell.
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
    REQUEST_OWN_CODE,
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
    REQUEST_FROM,
    REQUEST_TO,
    REQUEST_REDRAW,
    REQUEST_PROCESSES,
    REQUEST_CLOSE, // Closes the view, or quits on the main screen.
    REQUEST_QUIT,
    REQUEST_OWN // Requests of a single view begin here.
};

#define BINDING_KEYS 4

// Abilities of views (View.can). Navigation_can() says which abilities are
// usable at present.
enum Ability {
    CAN_SORT = 1,
    CAN_SEARCH = 2,
    CAN_FILTER = 4,
    CAN_FUNCTION = 8, // The view has a selected function: View.function.
    CAN_UNITS = 16,   // The view shows cycles.
    // The view shows counts that begin at the start, at a reset or at a
    // baseline.
    CAN_COUNT = 32,
    CAN_HIDE = 512,   // The view lists functions, and can hide idle ones.
    CAN_RESET = 1024, // The view's counts or window can be reset.
    // The following abilities do not depend on the view, but on the process or
    // file that is shown (Navigation_reach).
    CAN_ASK = 64,    // The viewer shows a live process, which accepts requests.
    CAN_LEAVE = 128, // The user may choose another process.
    CAN_PAUSE = 256, // More snapshots may come.
    // The viewer shows the recording of a run, of which a stretch can be
    // chosen.
    CAN_STRETCH = 2048,
    CAN_COMPARE = 4096,  // The viewer shows two recordings to compare.
    CAN_OWN_CODE = 8192, // The view lists functions or places in their code.
    CAN_REACH = CAN_ASK | CAN_LEAVE | CAN_PAUSE
};

struct Binding {
    int request;      // An enum Request, or a number that only one view knows.
    unsigned ability; // The enum Ability that the key needs (0 = none).
    uint32_t keys[BINDING_KEYS]; // Keys with the same effect (0 ends the list).
    const char *about;           // Text in the help.
    const char *group;           // Heading of the key in the help.
    const char *label; // Text on the bottom line (NULL = not shown there).
    // If the bottom line is too short, keys are dropped, those with the largest
    // importance first.
    int importance;
};

// Makes a struct Binding. The keys come last.
#define BINDING(request_, ability_, about_, group_, label_, importance_, ...)  \
    {                                                                          \
        .request = request_, .ability = ability_, .keys = {__VA_ARGS__},       \
        .about = about_, .group = group_, .label = label_,                     \
        .importance = importance_                                              \
    }

extern const struct Binding KEYMAP[];
extern const size_t KEYMAP_COUNT;

bool Binding_has(const struct Binding *binding, uint32_t key);
// Returns the entry of the key, or NULL.
const struct Binding *Keymap_find(uint32_t key);
int Keymap_request(uint32_t key); // Enum Request.
