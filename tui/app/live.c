// SPDX-License-Identifier: MIT
// See live.h.
#include "tui/app/live.h"

#include "tui/app/frame.h"
#include "tui/app/keyboard.h"
#include "tui/app/updates.h"

#define TICK_MS 1000 // the screen says how long the process has been silent

// What was typed before a question came up is no answer to it.
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

// The keys that wait are done, and what they did is seen. Each is drawn: the
// next one may mean another thing then.
static void press_keys(struct Ui *ui, struct Terminal *terminal)
{
    bool any = false;
    uint32_t key;
    while (!ui->quit && (key = Terminal_key(terminal)) != 0) {
        Keyboard_press(ui, key);
        if (*ui->existing) // a question may come up
            draw(ui, terminal);
        else
            Frame_draw(ui);
        any = true;
    }
    if (any)
        draw(ui, terminal);
}

// A large snapshot takes milliseconds to decode, and others to take in: a key
// waits for one of both at most, and is on the screen before the other.
int Live_run(struct Ui *ui, struct Terminal *terminal, long frames)
{
    int events = TERMINAL_RESIZED, error = 0;
    long shown = 0;
    bool drawn = false; // a key means what is seen
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
        // A large snapshot comes in many pieces: only the last is worth a
        // frame. Keys have been drawn.
        if (!events || events & ~(TERMINAL_KEYS | TERMINAL_OTHER) ||
            ui->changed)
            draw(ui, terminal);
        drawn = true;
        events = Terminal_wait(terminal, Feed_fd(ui->feed),
                               Feed_has_more(ui->feed) ? 0 : TICK_MS);
    }
    return error;
}
