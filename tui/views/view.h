// SPDX-License-Identifier: MIT
// struct View has the keys that open a view, and the functions that draw the
// view and handle its keys. The keyboard, the bottom line and the help read the
// table of views. A new view needs a name in enum ViewId, an entry in
// view_table.c, and a member of struct Ui for its state.
#pragma once

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
    VIEW_COMPARE,
    VIEW_LATENCY,
    VIEW_LOOPS,
    VIEW_TASKS,
    VIEW_TASK_GROUP,
    VIEW_EXCEPTIONS,
    VIEW_OBJECTS,
    VIEW_LINES,
    VIEW_COUNT
};

struct View {
    const char *name; // Name in messages and in the help.
    // The keys that open the view from every other view, and the texts for the
    // help and the bottom line. The same key or Esc leads back to the previous
    // view. opens.request is 0.
    struct Binding opens;
    // Keys that only this view has, for requests from REQUEST_OWN on. The
    // view's own keys take precedence over the keys of all views. An entry
    // without keys ends the array. NULL if the view has no keys of its own.
    const struct Binding *own;
    bool alone;   // The bottom line shows only the view's own keys.
    unsigned can; // Bits of enum Ability.

    // Must be called when the view is opened. `function` is the selected
    // function of the previous view, or 0. NULL if the view needs no
    // preparation.
    void (*open)(struct Ui *ui, uint64_t function);
    // Requests data that is not in the snapshot. Called when the view comes to
    // the front, after each key and after each snapshot. NULL if the view needs
    // only the snapshot.
    void (*want)(struct Ui *ui);
    // Draws everything except the bottom line on ui->canvas, at the positions
    // in ui->layout.
    void (*draw)(struct Ui *ui, const struct Status *status);
    // Handles a key. `request` is an enum Request, a request of the view, or
    // REQUEST_NONE. Returns false if the view does not use the key. If the view
    // does not use a key, the key may open another view, or may have the effect
    // that it has in all views.
    bool (*press)(struct Ui *ui, int request, uint32_t key);
    // Selects the next (step 1) or previous (-1) row that contains
    // ui->model.search. If `here` is true, the search begins at the selected
    // row. Returns false if no row contains the text. Only views with
    // CAN_SEARCH have the member `find`.
    bool (*find)(struct Ui *ui, int step, bool here);
    // begin_search and restart_search save and restore the position at the
    // beginning of a search, because the search starts again at this position
    // after each typed letter. NULL if the position in the view's list is
    // enough.
    void (*begin_search)(struct Ui *ui);
    void (*restart_search)(struct Ui *ui);
    // Returns the selected function or 0. Other views open this function, and
    // the key `a` re-arms it. Only views with CAN_FUNCTION have the member
    // `function`.
    uint64_t (*function)(const struct Ui *ui);
    // Returns the line that the selected row names in its function, or
    // NULL_U64. The annotate view selects this line. NULL if rows name no line.
    uint64_t (*line)(const struct Ui *ui);
    // Called when the user resets the counts. If the view has its own window of
    // time, this window begins again. NULL if the view has no window of its
    // own.
    void (*reset)(struct Ui *ui);
    // Appends the view's data as JSON. Returns 0, -ENODATA if no data has come
    // yet, or another -errno. NULL if the view's data is the snapshot
    // (tui/model/since.h).
    int (*json)(const struct Ui *ui, struct Bytes *out);
};
