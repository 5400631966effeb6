// SPDX-License-Identifier: MIT
// A view: which keys open it, how it draws, what it does with keys. The
// keyboard, the bottom line and the help read the table of views. A new view is
// a name in enum ViewId and in view_table.c, and a member of struct Ui for what
// it remembers. One thread.
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
    const char *name; // for messages and the help
    // The keys that open it from every view, with the words of the help and the
    // bottom line. The same key, or Esc, leads back to where it was opened. Its
    // request is 0.
    struct Binding opens;
    // Keys that only this view has, for requests from REQUEST_OWN on. They take
    // precedence. A row without keys ends them; NULL: none.
    const struct Binding *own;
    bool alone;   // the bottom line shows its own keys only
    unsigned can; // enum Ability

    // Comes to the front. `function` is the one that was selected where it was
    // opened; 0: none was. NULL: there is nothing to prepare.
    void (*open)(struct Ui *ui, uint64_t function);
    // Asks the process for what it shows beside the snapshot. Called when it
    // comes to the front, after each key and after each snapshot. NULL: it
    // needs nothing.
    void (*want)(struct Ui *ui);
    // Draws everything but the bottom line on ui->canvas, by ui->layout.
    void (*draw)(struct Ui *ui, const struct Status *status);
    // Carries out what a key asks for: enum Request, an own request, or
    // REQUEST_NONE. False: it does not use the key, which then may open another
    // view or do what it does in all views.
    bool (*press)(struct Ui *ui, int request, uint32_t key);
    // Selects the next (step 1) or previous (-1) row that contains
    // ui->model.search; `here`: the selected row comes first. False: there is
    // none. With CAN_SEARCH only.
    bool (*find)(struct Ui *ui, int step, bool here);
    // Saves the place where a search begins, and restores it: each letter that
    // the user types searches from there. NULL: its list is all that moves.
    void (*begin_search)(struct Ui *ui);
    void (*restart_search)(struct Ui *ui);
    // Returns the selected function, which other views open, and `a` arms
    // again. 0: there is none. With CAN_FUNCTION only.
    uint64_t (*function)(const struct Ui *ui);
    // Begins its own window now, as the user resets the counts. NULL: it has no
    // window of its own.
    void (*reset)(struct Ui *ui);
    // Appends what it shows as JSON. 0, -ENODATA: there is nothing yet, or
    // -errno. NULL: it shows the snapshot (tui/model/since.h).
    int (*json)(const struct Ui *ui, struct Bytes *out);
};

#endif
