// SPDX-License-Identifier: MIT
// The views, one row of a table each: which keys open them, how they draw, what
// they do with keys. The keyboard, the bottom line and the help read the table,
// so a new view is a name in enum ViewId, a row in view.c, and, if it remembers
// anything, a member in struct Screen. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_H
#define OCULAR_TUI_VIEWS_VIEW_H

#include "tui/screen/keymap.h"
#include "tui/views/status.h"

#include <stdbool.h>
#include <stdint.h>

struct Bytes;
struct Screen;

enum ViewId {
    VIEW_MAIN,
    VIEW_HELP,
    VIEW_ANNOTATE,
    VIEW_CALLERS,
    VIEW_OPCODES,
    VIEW_THREADS,
    VIEW_FLAME,
    VIEW_COUNT
};

struct View {
    const char *name; // on its first line
    // The keys that open it, from every view (the same key, or Esc, leads back
    // to where it was opened), with the words of the help and the bottom line.
    // Its request is 0.
    struct Binding opens;
    // Keys that only this view has: requests from REQUEST_OWN on. They go
    // before all others. A row without keys ends them; NULL: none.
    const struct Binding *own;
    bool alone;   // the bottom line offers its own keys only
    unsigned can; // enum Ability

    // It comes to the front, about the function that was selected where it was
    // opened, 0: none was. NULL: nothing to prepare.
    void (*open)(struct Screen *screen, uint64_t function);
    // Asks the process for what it shows beside the snapshot; called when it
    // comes to the front, after each key and each snapshot. NULL: needs
    // nothing.
    void (*want)(struct Screen *screen);
    // Everything but the bottom line, on screen->canvas, by screen->layout.
    void (*draw)(struct Screen *screen, const struct Status *status);
    // A key, as what it asks for: enum Request, an own request, or
    // REQUEST_NONE. True: it is done; false: everybody else may have it (other
    // views' keys, then what is the same everywhere).
    bool (*press)(struct Screen *screen, int request, uint32_t key);
    // Selects the next (step 1) or previous (-1) row that has
    // screen->model.search in it, or stays on a row that has it when `here`.
    // False if there is none. With CAN_SEARCH only.
    bool (*find)(struct Screen *screen, int step, bool here);
    // Keeps where a search begins, and is back there: each letter that is typed
    // looks from there anew. NULL: from what the letters before have found.
    void (*keep)(struct Screen *screen);
    void (*back)(struct Screen *screen);
    // The function that is shown as selected: what other views open and what
    // is armed again. 0: none just now. With CAN_FUNCTION only.
    uint64_t (*function)(const struct Screen *screen);
    // What it shows as JSON: 0, -ENODATA: nothing yet, or -errno. NULL: the
    // snapshot (tui/model/since.h).
    int (*json)(const struct Screen *screen, struct Bytes *out);
};

extern const struct View VIEWS[VIEW_COUNT];

const struct View *View_of(const struct Screen *screen); // the one in front
// The function that is selected in the view in front, if the process lists it
// still; 0: there is none.
uint64_t View_function(const struct Screen *screen);
// What of CAN_REACH is possible with what is watched: a process that runs, one
// that has ended, a recording.
unsigned View_reach(const struct Screen *screen);
// What the view in front can do now: no key is offered that it cannot carry
// out.
unsigned View_can(const struct Screen *screen);
// True, said in words, where the view in front cannot do now what the key of
// that binding means.
bool View_refuses(struct Screen *screen, const struct Binding *binding);
// What a key asks for in this view: its own request, or everybody's.
int View_request(const struct View *view, uint32_t key);
// The view that a key opens, VIEW_COUNT if none.
enum ViewId View_opened_by(uint32_t key);
// What Enter does to the selected row, for a click on it: the view that it
// opens comes to the front. False if it opens none.
bool View_enter(struct Screen *screen);
// To the front; Esc leads back to the one that is there now.
void View_open(struct Screen *screen, enum ViewId id);
// One view back. False on the main screen.
bool View_back(struct Screen *screen);

#endif
