// SPDX-License-Identifier: MIT
#include "tui/app/live.h"

#include "tui/app/frame.h"
#include "tui/app/keyboard.h"
#include "tui/app/updates.h"

// A frame is drawn every TICK_MS even if the process sends nothing, because a
// frame shows how long nothing has come.
#define TICK_MS 1000

// Draws a frame. If the frame shows a new question, drops the keys that the
// user typed before the question was visible.
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

// Handles all typed keys, and draws. Draws a frame after each key, because a
// key can change the meaning of the next key.
static void press_keys(struct Ui *ui, struct Terminal *terminal)
{
    bool any = false;
    uint32_t key;
    while (!ui->quit && (key = Terminal_key(terminal)) != 0) {
        Keyboard_press(ui, key);
        if (*ui->existing) // A question is pending, and can be opened now.
            draw(ui, terminal);
        else
            Frame_draw(ui);
        any = true;
    }
    if (any)
        draw(ui, terminal);
}

// Decoding a large snapshot takes some milliseconds, and so does updating the
// model. The viewer handles keys between decoding and updating, so that a key
// waits for only one of them.
int Live_run(struct Ui *ui, struct Terminal *terminal, long frames)
{
    int events = TERMINAL_RESIZED, error = 0;
    long shown = 0;
    bool drawn = false; // Keys are not handled before the first frame is drawn.
    while (!error && !ui->quit && !(events & TERMINAL_QUIT)) {
        int width, height, taken;
        if (events & TERMINAL_RESIZED) {
            Terminal_size(terminal, &width, &height);
            error = Canvas_resize(&ui->canvas, width, height);
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
        // A large snapshot arrives in many pieces. A frame is drawn only after
        // the last piece of a snapshot. press_keys() has already drawn the
        // effect of keys. Before the first snapshot, each turn of the loop
        // shows how much of the file is read.
        if (!events || events & ~(TERMINAL_KEYS | TERMINAL_OTHER) ||
            ui->changed || !ui->model.snapshot)
            draw(ui, terminal);
        drawn = true;
        events = Terminal_wait(terminal, Feed_fd(ui->feed),
                               ui->feed->more ? 0 : TICK_MS);
    }
    return error;
}
