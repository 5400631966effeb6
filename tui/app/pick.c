// SPDX-License-Identifier: MIT
#include "tui/app/pick.h"

#include "ipc/base/now.h"
#include "tui/app/chooser_draw.h"

#define REFRESH_MS 1000 // ms after which the list is read again.

static void draw(struct Chooser *chooser, struct Terminal *terminal,
                 struct Canvas *canvas)
{
    Chooser_draw(chooser, canvas);
    Terminal_draw(terminal, canvas);
}

// Handles the keys that wait. If a question becomes visible, drops the keys
// that the user typed before.
static enum ChooserAnswer press_keys(struct Chooser *chooser,
                                     struct Terminal *terminal,
                                     struct Canvas *canvas)
{
    enum ChooserAnswer answer = CHOOSER_NONE;
    uint32_t key;
    while (!answer && (key = Terminal_key(terminal)) != 0) {
        answer = Chooser_key(chooser, key);
        if (!chooser->asked)
            continue;
        draw(chooser, terminal, canvas);
        while (Terminal_key(terminal) != 0)
            ;
    }
    return answer;
}

int Pick_run(struct Chooser *chooser, struct Terminal *terminal, bool ascii)
{
    struct Canvas canvas;
    enum ChooserAnswer answer = CHOOSER_NONE;
    int events = TERMINAL_RESIZED, error = 0;
    uint64_t read_ns = Now_ns(CLOCK_MONOTONIC);
    Canvas_init(&canvas, ascii);
    while (!answer && !error && !(events & TERMINAL_QUIT)) {
        int width, height;
        Terminal_size(terminal, &width, &height);
        if (events & TERMINAL_RESIZED)
            error = Canvas_resize(&canvas, width, height);
        if (error)
            break;
        draw(chooser, terminal, &canvas);
        events = Terminal_wait(terminal, -1, REFRESH_MS);
        answer = press_keys(chooser, terminal, &canvas);
        if (!answer && Now_ns(CLOCK_MONOTONIC) - read_ns >=
                           REFRESH_MS * UINT64_C(1000000)) {
            Chooser_refresh(chooser);
            read_ns = Now_ns(CLOCK_MONOTONIC);
        }
    }
    // Draws the message before the viewer attaches, because attaching takes a
    // moment.
    if (answer && *chooser->message)
        draw(chooser, terminal, &canvas);
    Canvas_release(&canvas);
    if (error)
        return error;
    return answer ? (int)answer : CHOOSER_QUIT;
}
