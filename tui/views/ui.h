// SPDX-License-Identifier: MIT
// struct Ui contains all that the views share: the feed, the model, the user's
// choices, the canvas, the message, and the state of each view. struct Ui does
// not need a terminal, so that the option --keys also works without one. Only
// the viewer's main thread uses struct Ui.
#pragma once

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
#include "tui/screen/strip.h"
#include "tui/views/view.h"

#include <stdbool.h>
#include <stdint.h>

#define MESSAGE_MAX 1024

struct Ui {
    const struct View *const *views; // VIEW_COUNT views, borrowed.
    struct Feed *feed;               // Source of the snapshots, borrowed.
    struct Model model;
    struct Canvas canvas;
    struct Layout layout; // Layout of the newest frame.
    struct Prompt prompt;
    // True with --batch, in which there are no selection and no keys.
    bool bare;
    bool ns;   // True if cycles are shown as time.
    bool quit; // True if the user wants to quit or leave.
    // True if the user wants the list of processes. `quit` is true, too.
    bool leave;
    bool changed;     // True if new data has arrived since the last frame.
    bool redraw;      // True if every cell of the terminal must be drawn again.
    enum ViewId view; // The view on the screen.
    // The views to which Esc leads back. way[0] is the main screen.
    enum ViewId way[VIEW_COUNT];
    int depth;    // Number of views in `way` (0 = the main screen is shown).
    int help_top; // First visible line of the help (0 = the top).
    struct List lists[VIEW_COUNT]; // The list of rows for each view.
    struct List search_from; // Copy of the view's list when a search began.
    bool sort_menu; // True if the main screen shows the menu of sort columns.
    struct List sort_list; // Lines of the menu of sort columns.
    struct AnnotateState annotate;
    struct CallersState callers;
    bool on_pairs; // True if the keys of the opcodes view act on pair_list.
    // The list of the opcodes view with the counts of changes.
    struct List pair_list;
    struct ThreadsState threads;
    // TaskGroup_key() of the group whose single tasks are shown.
    uint64_t task_group;
    // True if tasks are grouped by the line that has created them.
    bool tasks_by_place;
    // Key of the type below which the functions that create its objects are
    // shown.
    uint64_t unfolded_type;
    struct FlameState flame;
    bool natives; // True if the viewer asks the process for C functions.
    // The newest snapshot compared with another run.
    struct Comparison comparison;
    struct Children children;
    // Path of the newest export, or "" if there was none.
    char export_path[PROMPT_MAX];
    // Path of an export's file that already exists, or "". The next frame asks
    // the user whether to overwrite this file.
    char existing[PROMPT_MAX];
    char message[MESSAGE_MAX]; // Message on the bottom line, or "".
    // Position and length in bytes of a path in `message` (0 = no path).
    int path_at, path_length;
    bool alert;           // True if the message reports a failure.
    double message_until; // Time (Feed_now()) at which the message is removed.
};

// `ui` keeps the pointers `views` and `feed`, so the objects behind these
// pointers must outlive `ui`.
void Ui_init(struct Ui *ui, const struct View *const *views, struct Feed *feed,
             bool ascii);
void Ui_release(struct Ui *ui);
// If the main screen shows the function, selects it there.
void Ui_choose(struct Ui *ui, uint64_t function);
// Makes all views forget their data, because `snapshot` is of another part of
// the recorded run. If there is a second recording, compares both runs.
void Ui_take_stretch(struct Ui *ui, const struct Snapshot *snapshot);
// Returns true if the main view or the latency view is shown.
bool Ui_lists_functions(const struct Ui *ui);
// From now on asks the process for C functions, or no longer does.
void Ui_want_natives(struct Ui *ui, bool wanted);
// Draws the own line of a view.
void Ui_draw_title(struct Ui *ui, struct Strip *strip);
// Draws a text where the view's rows would be.
void Ui_draw_nothing(struct Ui *ui, const char *text);
// Shows a message on the bottom line for MESSAGE_S seconds.
void Ui_say(struct Ui *ui, bool alert, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Shows a message that the file of an export is complete. If `lack` is not "",
// the message also says what is missing in the file.
void Ui_say_written(struct Ui *ui, const char *path, const char *size,
                    const char *lack);
// Shows a message that contains `path`. If the line is too short, some of the
// path's directories are left out, but never the name of the file.
void Ui_say_path(struct Ui *ui, const char *path, bool alert,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
// After a request to the process, shows `asked`, or the reason why the request
// failed (-errno).
void Ui_say_asked(struct Ui *ui, int error, const char *asked);
// Appends the data of the shown view as JSON, sorted and filtered as on the
// screen. Returns 0, -ENODATA if no data has come yet, or -ENOMEM.
int Ui_write_json(const struct Ui *ui, struct Bytes *out);
// Returns a sentence for the message after saving, which says what the counts
// and shares in the JSON file mean. Returns "" if the counts are those since
// the start of tracing, and the shares are those of all threads.
const char *Ui_json_note(const struct Ui *ui);
