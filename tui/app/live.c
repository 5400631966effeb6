// SPDX-License-Identifier: MIT
// See live.h.
#include "tui/app/live.h"

#include "tui/app/frame.h"
#include "tui/app/keyboard.h"
#include "tui/app/updates.h"

#define TICK_MS 1000 // a frame shows how long the process has been silent

// Draws a frame. Drops keys that were typed before a question became visible,
// because they do not answer it.
static void draw(struct Ui *ui, struct Terminal *terminal)
{
    bool asked = Prompt_is_question(&ui->prompt);
    Frame_draw(ui);
    if (ui->redraw)
        Terminal_distrust(terminal);
    ui->redraw = false;
    Terminal_draw(terminal, &ui->canvas);
    while (!asked && Prompt_is_question(&ui->prompt) &&
           Terminal_key(terminal) != 0)
        ;
}

// Presses the waiting keys and draws. A frame is composed after each key,
// because the key may change the meaning of the next one.
static void press_keys(struct Ui *ui, struct Terminal *terminal)
{
    bool any = false;
    uint32_t key;
    while (!ui->quit && (key = Terminal_key(terminal)) != 0) {
        Keyboard_press(ui, key);
        if (*ui->existing) // a question may open
            draw(ui, terminal);
        else
            Frame_draw(ui);
        any = true;
    }
    if (any)
        draw(ui, terminal);
}

// Decoding a large snapshot takes milliseconds, and so does taking it into the
// model. Keys are handled between the two, so a key waits for only one of them.
int Live_run(struct Ui *ui, struct Terminal *terminal, long frames)
{
    int events = TERMINAL_RESIZED, error = 0;
    long shown = 0;
    bool drawn = false; // keys wait until the first frame is drawn
    while (!error && !ui->quit && !(events & TERMINAL_QUIT)) {
        int width, height, taken;
        if (events & TERMINAL_RESIZED) {
            Terminal_size(terminal, &width, &height);
            error = Ui_resize(ui, width, height);
        }
        if (drawn && !error) {
            press_keys(ui, terminal);
            Updates_receive(ui);
            press_keys(ui, terminal);
        }
        if (ui->quit)
            break;
        taken = error ? error : Updates_poll(ui);
        error = taken < 0 ? taken : error;
        shown += taken > 0;
        if (error || (frames && shown > frames))
            break;
        // A large snapshot arrives in many pieces, and only the last piece is
        // worth a frame. press_keys() has already drawn the effect of keys.
        if (!events || events & ~(TERMINAL_KEYS | TERMINAL_OTHER) ||
            ui->changed || !ui->model.snapshot) // how far a file is read
            draw(ui, terminal);
        drawn = true;
        events = Terminal_wait(terminal, Feed_fd(ui->feed),
                               Feed_has_more(ui->feed) ? 0 : TICK_MS);
    }
    return error;
}
