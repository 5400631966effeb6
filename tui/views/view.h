// SPDX-License-Identifier: MIT
// struct View contains the keys that open a view, and the functions that draw
// it and handle its keys. The keyboard, the bottom line and the help use the
// table of views. A new view needs a name in enum ViewId, an entry in
// view_table.c, and a member of struct Ui with its state.
#pragma once

#include "tui/screen/keymap.h"
#include "tui/views/status.h"

#include <stdbool.h>
#include <stdint.h>

struct Bytes;
struct ShownKind;
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
    // Keys that open the view from any other view, and their texts for the help
    // and the bottom line. The key that opens a view, or Esc, leads back to the
    // previous view. opens.request is 0.
    struct Binding opens;
    // Keys that only this view has, for requests from REQUEST_OWN on. The
    // view's own keys come before the keys of all views. An entry without keys
    // ends the array. NULL if the view has no keys of its own.
    const struct Binding *own;
    // True if the bottom line shows only the view's own keys, and the view
    // draws the first line itself.
    bool alone;
    unsigned can; // Bits of enum Ability.
    // Says what the list shows. NULL if the functions of
    // tui/views/shown_rows.h do not serve the view.
    const struct ShownKind *shown;

    // Must be called when the view is opened. `function` is the function that
    // was selected in the previous view, or 0. NULL if the view needs no
    // preparation.
    void (*open)(struct Ui *ui, uint64_t function);
    // Requests data that is not in the snapshot. `want` is called when the view
    // comes to the front, after each key, and after each snapshot. NULL if the
    // snapshot has all that the view needs.
    void (*want)(struct Ui *ui);
    // Returns true if the list is empty because the process is still reading
    // its rows. NULL if the list never waits for the process.
    bool (*is_reading)(const struct Ui *ui);
    // Draws everything except the first line and the bottom line on ui->canvas,
    // at the positions in ui->layout.
    void (*draw)(struct Ui *ui, const struct Status *status);
    // Handles a key. `request` is an enum Request, a request of this view only,
    // or REQUEST_NONE. Returns false if the view does not use the key. A key
    // that the view does not use may open another view, or have its effect in
    // all views.
    bool (*press)(struct Ui *ui, int request, uint32_t key);
    // Selects the next (step 1) or previous (-1) row that contains
    // ui->model.search. If `here` is true, the search begins at the selected
    // row. Returns false if no row contains the text. NULL if the view lacks
    // CAN_SEARCH.
    bool (*find)(struct Ui *ui, int step, bool here);
    // Returns the selected function, or 0. Other views open the selected
    // function, and the key `a` installs its hooks again. NULL if the view
    // lacks CAN_FUNCTION.
    uint64_t (*function)(const struct Ui *ui);
    // Returns the line of its function that the selected row names, or
    // NULL_U64. The annotate view selects the line. NULL if the view's rows
    // name no lines.
    uint64_t (*line)(const struct Ui *ui);
    // Must be called when the user resets the counts. If the view has a window
    // of time of its own, this window begins again. NULL if the view has no
    // such window.
    void (*reset)(struct Ui *ui);
    // Appends the data of the view as JSON. Returns 0, -ENODATA if no data has
    // come yet, or another -errno. NULL if the data of the view are just the
    // snapshot (tui/model/since.h).
    int (*json)(const struct Ui *ui, struct Bytes *out);
};
