// SPDX-License-Identifier: MIT
// struct Ui has the feed, the model, the user's choices, the canvas, the
// message and the state of each view, because the views share these data.
// struct Ui does not need a terminal, so the option --keys works without a
// terminal. Only the viewer's main thread uses struct Ui.
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

struct Ui {
    const struct View *const *views; // VIEW_COUNT views, borrowed.
    struct Feed *feed;               // The stream of snapshots, borrowed.
    struct Model model;
    struct Canvas canvas;
    struct Layout layout; // Layout of the newest frame on the screen.
    struct Prompt prompt;
    bool bare;    // True with --batch, which has no selection and no keys.
    bool ns;      // Cycles are shown as time.
    bool quit;    // The user wants to quit or leave.
    bool leave;   // The user wants the list of processes (`quit` is set, too).
    bool changed; // New data has arrived since the last frame.
    bool redraw;  // Every cell of the terminal must be drawn again.
    enum ViewId view; // The view on the screen.
    // The views to which Esc leads back. The main screen is the first.
    enum ViewId way[VIEW_COUNT];
    int depth;    // Number of views in `way` (0 = the main screen is shown).
    int help_top; // First visible line of the help (0 = the top).
    struct List lists[VIEW_COUNT]; // The list of rows of each view.
    struct List search_from; // Copy of the list at the beginning of a search.
    bool sort_menu;          // The main screen shows the menu of sort columns.
    struct List sort_list;   // Lines of the menu of sort columns.
    struct AnnotateState annotate;
    struct CallersState callers;
    bool on_pairs;         // In the opcodes view, the keys move in pair_list.
    struct List pair_list; // The list of the counts in the opcodes view.
    struct ThreadsState threads;
    uint64_t task_group; // TaskGroup_key() of the group of single tasks.
    // Tasks are grouped by the places at which they were created.
    bool tasks_by_place;
    uint64_t unfolded_type; // Key of the type whose creators are shown.
    struct FlameState flame;
    bool natives; // The process is asked for C functions.
    // Comparison of the newest snapshot with another run.
    struct Comparison comparison;
    struct Children children;
    // Path of the newest export, or "" if none exists.
    char export_path[PROMPT_MAX];
    // Path of an existing file for an export, or "". The next frame asks the
    // user whether to overwrite this file.
    char existing[PROMPT_MAX];
    char message[MESSAGE_MAX]; // Message on the bottom line, or "".
    // Position and length in bytes of a path in `message` (0 = no path).
    int path_at, path_length;
    bool alert;           // The message reports a failure.
    double message_until; // Feed_now() at which the message is removed.
};

// Ui keeps the pointers `views` and `feed`, which must outlive `ui`.
void Ui_init(struct Ui *ui, const struct View *const *views, struct Feed *feed,
             bool ascii);
void Ui_release(struct Ui *ui);
// Selects a function on the main screen, if the main screen shows the function.
void Ui_choose(struct Ui *ui, uint64_t function);
// Makes all views forget their data, because `snapshot` covers another part of
// the recorded run. If there is a second recording, compares both runs.
void Ui_take_stretch(struct Ui *ui, const struct Snapshot *snapshot);
// Returns true if the main view or the latency view is in front.
bool Ui_lists_functions(const struct Ui *ui);
// Changes the size of the canvas. Returns 0 or -ENOMEM.
int Ui_resize(struct Ui *ui, int width, int height);
// Asks the process for C functions from now on, or no longer.
void Ui_want_natives(struct Ui *ui, bool wanted);
// Draws the view's own line.
void Ui_draw_title(struct Ui *ui, struct Strip *strip);
// Draws a text instead of the view's rows.
void Ui_draw_nothing(struct Ui *ui, const char *text);
// Shows a message on the bottom line for MESSAGE_S seconds.
void Ui_say(struct Ui *ui, bool alert, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Says that the file of an export is written. If `lack` is not "", the message
// also says what the file lacks.
void Ui_say_written(struct Ui *ui, const char *path, const char *size,
                    const char *lack);
// Shows a message that contains `path`. If the line is too short, leaves out
// directories of the path, but never the file's name.
void Ui_say_path(struct Ui *ui, const char *path, bool alert,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
// After a request to the process, shows `asked`, or the reason why the request
// failed (-errno).
void Ui_say_asked(struct Ui *ui, int error, const char *asked);
// Appends the data of the view on the screen as JSON, sorted and filtered as on
// the screen. Returns 0, -ENODATA if no data has come yet, or -ENOMEM.
int Ui_write_json(const struct Ui *ui, struct Bytes *out);
// Returns a sentence about the counts and shares in a saved JSON file, for the
// message after saving. Returns "" if the file has the counts since the start
// and the shares of all threads.
const char *Ui_json_note(const struct Ui *ui);
