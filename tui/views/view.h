// SPDX-License-Identifier: MIT
// The views, one row of a table each: which keys open them, how they draw, what
// they do with keys. The keyboard, the bottom line and the help read the table,
// so a new view is a name in enum ViewId, a row in view.c, and, if it remembers
// anything, a member in struct Ui. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_H
#define OCULAR_TUI_VIEWS_VIEW_H

#include "tui/screen/keymap.h"
#include "tui/views/status.h"

#include <stdbool.h>
#include <stdint.h>

struct Bytes;
struct Ui;

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
    void (*open)(struct Ui *ui, uint64_t function);
    // Asks the process for what it shows beside the snapshot; called when it
    // comes to the front, after each key and each snapshot. NULL: needs
    // nothing.
    void (*want)(struct Ui *ui);
    // Everything but the bottom line, on ui->canvas, by ui->layout.
    void (*draw)(struct Ui *ui, const struct Status *status);
    // A key, as what it asks for: enum Request, an own request, or
    // REQUEST_NONE. True: it is done; false: everybody else may have it (other
    // views' keys, then what is the same everywhere).
    bool (*press)(struct Ui *ui, int request, uint32_t key);
    // Selects the next (step 1) or previous (-1) row that has
    // ui->model.search in it, or stays on a row that has it when `here`.
    // False if there is none. With CAN_SEARCH only.
    bool (*find)(struct Ui *ui, int step, bool here);
    // Keeps where a search begins, and is back there: each letter that is typed
    // looks from there anew. NULL: from what the letters before have found.
    void (*keep)(struct Ui *ui);
    void (*back)(struct Ui *ui);
    // The function that is shown as selected: what other views open and what
    // is armed again. 0: none just now. With CAN_FUNCTION only.
    uint64_t (*function)(const struct Ui *ui);
    // The user resets the counts: a window of its own begins now. NULL: it has
    // none.
    void (*reset)(struct Ui *ui);
    // What it shows as JSON: 0, -ENODATA: nothing yet, or -errno. NULL: the
    // snapshot (tui/model/since.h).
    int (*json)(const struct Ui *ui, struct Bytes *out);
};

// What a key asks for in this view: its own request, or everybody's.
int View_request(const struct View *view, uint32_t key);
// The view that a key opens, VIEW_COUNT if none. `views` are VIEW_COUNT.
enum ViewId View_opened_by(const struct View *views, uint32_t key);

#endif
