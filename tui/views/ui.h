// SPDX-License-Identifier: MIT
// The data that all views of one watched process share: the feed, the model,
// the user's choices, the canvas, the message and the state of each view.
// Nothing here uses a terminal, so --keys works without one. One thread.
#ifndef OCULAR_TUI_VIEWS_UI_H
#define OCULAR_TUI_VIEWS_UI_H

#include "tui/model/annotate_state.h"
#include "tui/model/callers_state.h"
#include "tui/model/children.h"
#include "tui/model/comparison.h"
#include "tui/model/feed.h"
#include "tui/model/flame_state.h"
#include "tui/model/model.h"
#include "tui/model/threads_state.h"
#include "tui/screen/canvas.h"
#include "tui/screen/layout.h"
#include "tui/screen/list.h"
#include "tui/screen/prompt.h"
#include "tui/views/view.h"

#include <stdbool.h>
#include <stdint.h>

struct Ui {
    const struct View *const *views; // VIEW_COUNT views, borrowed
    struct Feed *feed;               // the stream of snapshots; borrowed
    struct Model model;
    struct Canvas canvas;
    struct Layout layout; // layout of the newest frame
    struct Prompt prompt;
    bool bare;    // --batch: no selection and no keys
    bool ns;      // cycles are shown as time
    bool quit;    // the user wants to quit or leave
    bool leave;   // the user wants the list of processes; `quit` is set, too
    bool changed; // new data has arrived since the last frame
    bool redraw;  // every cell of the terminal must be drawn again
    enum ViewId view; // the view in front
    // the views behind it; the main screen is the first
    enum ViewId way[VIEW_COUNT];
    int depth;    // views in `way`; 0: the main screen is in front
    int help_top; // first visible line of the help; 0: the top
    struct List lists[VIEW_COUNT]; // the list of each view
    struct List search_from;       // the front list when the search began
    bool sort_menu;        // the main screen shows the menu of sort columns
    struct List sort_list; // lines of this menu
    struct AnnotateState annotate;
    struct CallersState callers;
    bool on_pairs;         // in the opcodes view, keys move in pair_list
    struct List pair_list; // the counts of the opcodes view
    struct ThreadsState threads;
    struct FlameState flame;
    struct Comparison comparison; // with another run; of the newest snapshot
    struct Children children;
    char export_path[PROMPT_MAX]; // path of the newest export; "": none yet
    // existing file for an export; the next frame asks whether to overwrite it;
    // "": none
    char existing[PROMPT_MAX];
    char message[MESSAGE_MAX]; // message on the bottom line; "": none
    // position and bytes of a path in the message; 0: no path
    int path_at, path_length;
    bool alert;           // the message reports a failure
    double message_until; // Feed_now() at which the message is removed
};

// Keeps pointers to `views` and `feed`, which must outlive `ui`.
void Ui_init(struct Ui *ui, const struct View *const *views, struct Feed *feed,
             bool ascii);
void Ui_release(struct Ui *ui);
// Makes the main screen select a function, if the main screen shows it.
void Ui_choose(struct Ui *ui, uint64_t function);
// Forgets what views know, because the next snapshot is of another stretch of a
// run that is over. Compares it with the other run, if there is one.
void Ui_take_stretch(struct Ui *ui, const struct Snapshot *snapshot);
// Returns 0 or -ENOMEM.
int Ui_resize(struct Ui *ui, int width, int height);
// Shows a message on the bottom line for MESSAGE_S seconds.
void Ui_say(struct Ui *ui, bool alert, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Shows a message of which `path` is one of the arguments. If there is too
// little room, the path loses directories, but not the file's name.
void Ui_say_path(struct Ui *ui, const char *path, bool alert,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
// Reports a request to the process: shows `asked`, or the reason why the
// request failed (-errno).
void Ui_say_asked(struct Ui *ui, int error, const char *asked);
// Appends the data of the front view, sorted and filtered as on the screen.
// Returns 0, -ENODATA if there is nothing yet, or -ENOMEM.
int Ui_write_json(const struct Ui *ui, struct Bytes *out);
// Returns a sentence for the message after saving: which counts and shares the
// file has. Returns "" if these are those of the whole run and of all threads.
const char *Ui_json_note(const struct Ui *ui);

#endif
