// SPDX-License-Identifier: MIT
// All that one look at a process needs: the feed, the model of what came, the
// user's wishes, and the canvas that a frame is composed on. It knows no
// terminal, so --keys works without one. One thread.
#ifndef OCULAR_TUI_SCREEN_H
#define OCULAR_TUI_SCREEN_H

#include "tui/canvas.h"
#include "tui/feed.h"
#include "tui/layout.h"
#include "tui/model.h"
#include "tui/prompt.h"

#include <stdbool.h>
#include <stdint.h>

struct Screen {
    struct Feed *feed; // borrowed
    struct Model model;
    struct Canvas canvas;
    struct Layout layout;
    struct Prompt prompt;
    bool bare;    // no selection, no keys: batch
    bool help;    // the help is shown
    bool ns;      // cycles as time
    bool quit;    // the user wants to leave
    bool changed; // since the last Screen_draw
    bool redraw;  // the terminal is to be drawn anew, whatever it shows
    int help_top;
    size_t origin;                // selected row when a search began
    char export_path[PROMPT_MAX]; // of the export asked for last
    char message[1024];           // "" = none
    bool alert;
    double message_until; // Feed_now() when it goes
};

void Screen_init(struct Screen *screen, struct Feed *feed, bool ascii);
void Screen_release(struct Screen *screen);
// 0 or -ENOMEM.
int Screen_resize(struct Screen *screen, int width, int height);
// Takes what the feed has. The number of snapshots taken (0 or 1), or -ENOMEM.
int Screen_poll(struct Screen *screen);
// Puts a message on the bottom line for a while.
void Screen_say(struct Screen *screen, bool alert, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void Screen_draw(struct Screen *screen);
// Appends what is on screen (sorted, filtered) as JSON. 0 or -ENOMEM.
int Screen_json(const struct Screen *screen, struct Bytes *out);

#endif
