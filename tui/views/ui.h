// SPDX-License-Identifier: MIT
// The data that all views share about one watched process: the feed, the model,
// the user's choices, the canvas, the message, and the state of each view. It
// knows no terminal, so --keys works without one. One thread.
#ifndef OCULAR_TUI_VIEWS_UI_H
#define OCULAR_TUI_VIEWS_UI_H

#include "tui/model/annotate_state.h"
#include "tui/model/callers_state.h"
#include "tui/model/children.h"
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
    const struct View *const *views; // VIEW_COUNT, borrowed
    struct Feed *feed;               // borrowed
    struct Model model;
    struct Canvas canvas;
    struct Layout layout; // of the newest frame
    struct Prompt prompt;
    bool bare;        // batch: no selection, no keys
    bool ns;          // cycles show as time
    bool quit;        // the user wants to leave
    bool leave;       // ... for the list of processes
    bool changed;     // something to draw came since the last frame
    bool redraw;      // the terminal must be drawn again, whatever it shows
    enum ViewId view; // in front
    enum ViewId way[VIEW_COUNT];   // the views behind it, the main screen first
    int depth;                     // views in `way`
    int help_top;                  // first line of the help on the screen
    struct List lists[VIEW_COUNT]; // the views' own
    struct List search_from;       // the list in front, as a search began
    bool sort_menu;                // the main screen shows it
    struct List sort_list;         // its lines
    struct AnnotateState annotate;
    struct CallersState callers;
    bool on_pairs;         // the opcodes view moves among the counts,
    struct List pair_list; // ... which are these
    struct ThreadsState threads;
    struct FlameState flame;
    struct Children children;
    char export_path[PROMPT_MAX]; // of the newest export; "": none yet
    char existing[PROMPT_MAX];    // a file that the export may overwrite or
                                  // not: the next frame asks; "": none
    char message[MESSAGE_MAX];    // on the bottom line; "": none
    int path_at, path_length;     // bytes of a path in the message; 0: none
    bool alert;                   // the message is about a failure
    double message_until;         // Feed_now() when it goes
};

// Keeps `views` and the feed, which must live as long.
void Ui_init(struct Ui *ui, const struct View *const *views, struct Feed *feed,
             bool ascii);
void Ui_release(struct Ui *ui);
// Lets the main screen select a function, if it shows it.
void Ui_choose(struct Ui *ui, uint64_t function);
// 0 or -ENOMEM.
int Ui_resize(struct Ui *ui, int width, int height);
// Puts a message on the bottom line for a while.
void Ui_say(struct Ui *ui, bool alert, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// The same if `path`, a file's, is one of the arguments: where there is too
// little room the path loses directories, and the file keeps its name.
void Ui_say_path(struct Ui *ui, const char *path, bool alert,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
// Reports a request to the process: `asked`, or why it cannot be made (-errno).
void Ui_say_asked(struct Ui *ui, int error, const char *asked);
// Appends what is on the screen (sorted, filtered). 0, -ENODATA: there is
// nothing yet, or -ENOMEM.
int Ui_write_json(const struct Ui *ui, struct Bytes *out);
// A sentence about its counts and shares for the message that it is saved,
// if they are not those of the whole run and of all threads; else "".
const char *Ui_json_note(const struct Ui *ui);

#endif
