// SPDX-License-Identifier: MIT
// All that one look at a process needs: the feed, the model of what came, the
// user's wishes, and the canvas that a frame is composed on. It knows no
// terminal, so --keys works without one. One thread.
#ifndef OCULAR_TUI_APP_SCREEN_H
#define OCULAR_TUI_APP_SCREEN_H

#include "tui/model/children.h"
#include "tui/model/feed.h"
#include "tui/model/model.h"
#include "tui/screen/canvas.h"
#include "tui/screen/layout.h"
#include "tui/screen/prompt.h"
#include "tui/views/view.h"
#include "tui/views/view_annotate.h"
#include "tui/views/view_callers.h"
#include "tui/views/view_flame.h"
#include "tui/views/view_opcodes.h"
#include "tui/views/view_threads.h"

#include <stdbool.h>
#include <stdint.h>

struct Screen {
    struct Feed *feed; // borrowed
    struct Model model;
    struct Canvas canvas;
    struct Layout layout;
    struct Prompt prompt;
    bool bare;        // no selection, no keys: batch
    bool ns;          // cycles as time
    bool quit;        // the user wants to leave
    bool leave;       // ... for the list of processes
    bool changed;     // since the last Screen_draw
    bool redraw;      // the terminal is to be drawn anew, whatever it shows
    enum ViewId view; // in front
    enum ViewId way[VIEW_COUNT]; // behind it, the main screen first
    int depth;
    int help_top;
    struct AnnotateView annotate;
    struct CallersView callers;
    struct OpcodesView opcodes;
    struct ThreadsView threads;
    struct FlameView flame;
    struct Children children;
    uint64_t origin;     // the function that was selected when a search began
    bool origin_follows; // ... and stays so, else whatever is at the top
    char export_path[PROMPT_MAX]; // of the export asked for last
    char existing[PROMPT_MAX];    // a file to ask about, when nothing else is
                                  // asked: may the export overwrite it? "": no
    char message[MESSAGE_MAX];    // "" = none
    int path_at, path_length;     // of a file, in the message
    bool alert;
    double message_until; // Feed_now() when it goes
};

void Screen_init(struct Screen *screen, struct Feed *feed, bool ascii);
void Screen_release(struct Screen *screen);
// 0 or -ENOMEM.
int Screen_resize(struct Screen *screen, int width, int height);
// Reads and decodes what has arrived. Screen_poll does, too; by itself it lets
// keys in before the model takes it.
void Screen_receive(struct Screen *screen);
// Takes what the feed has. The number of snapshots taken (0 or 1), or -ENOMEM.
int Screen_poll(struct Screen *screen);
// Puts a message on the bottom line for a while.
void Screen_say(struct Screen *screen, bool alert, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// The same where `path`, a file's, is one of the arguments: it loses
// directories where there is too little room, and the file keeps its name.
void Screen_say_path(struct Screen *screen, const char *path, bool alert,
                     const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// Shows an answer of the process.
void Screen_answer(struct Screen *screen, const struct Answer *answer);
// Says what became of a request: `asked`, or why it cannot be (-errno).
void Screen_asked(struct Screen *screen, int error, const char *asked);
// A question that the process has given rise to comes up with the frame that
// shows it, and not while another one is being answered: what is typed is meant
// for what is seen.
void Screen_draw(struct Screen *screen);
// Appends what is on screen (sorted, filtered) as JSON. 0, -ENODATA where there
// is nothing yet, or -ENOMEM.
int Screen_json(const struct Screen *screen, struct Bytes *out);

#endif
