// SPDX-License-Identifier: MIT
// See pick.h.
#include "tui/app/pick.h"

#define REFRESH_MS 1000 // the list is read again so often

int Pick_run(struct Chooser *chooser, struct Terminal *terminal, bool ascii)
{
    struct Canvas canvas;
    enum ChooserAnswer answer = CHOOSER_NONE;
    int events = TERMINAL_RESIZED, error = 0;
    Canvas_init(&canvas, ascii);
    while (!answer && !error && !(events & TERMINAL_QUIT)) {
        int width, height;
        uint32_t key;
        Terminal_size(terminal, &width, &height);
        if (events & TERMINAL_RESIZED)
            error = Canvas_resize(&canvas, width, height);
        if (error)
            break;
        Chooser_draw(chooser, &canvas);
        Terminal_draw(terminal, &canvas);
        events = Terminal_wait(terminal, -1, REFRESH_MS);
        while (!answer && (key = Terminal_key(terminal)) != 0)
            answer = Chooser_key(chooser, key);
        if (!answer && !(events & TERMINAL_KEYS))
            Chooser_refresh(chooser);
    }
    Canvas_release(&canvas);
    if (error)
        return error;
    return answer ? (int)answer : CHOOSER_QUIT;
}
