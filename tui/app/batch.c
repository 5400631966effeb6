// SPDX-License-Identifier: MIT
#include "tui/app/batch.h"

#include "tui/app/frame.h"
#include "tui/app/keyboard.h"
#include "tui/app/updates.h"
#include "tui/views/navigation.h"
#include "tui/views/ui.h"
#include "tui/views/view_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH 150
#define HEIGHT 40
// ms for which --keys waits for the answers of the process. A first walk over
// asyncio's tasks can take seconds.
#define ANSWER_MS 4000
#define WAIT_MS 1000
// The key <Frame> of --keys waits for a snapshot for FRAME_S seconds, plus
// twice the time between snapshots.
#define FRAME_S 2
#define ARMED_S 0.9 // Seconds of tracing before the first frame is printed.

static int flush(struct Bytes *bytes)
{
    if (bytes->error)
        return bytes->error;
    if (fwrite(bytes->data, 1, bytes->size, stdout) != bytes->size ||
        fflush(stdout))
        return -errno;
    return 0;
}

int Batch_width(int otherwise)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
        size.ws_col >= LAYOUT_MIN_WIDTH)
        return size.ws_col;
    return otherwise;
}

// Sets the canvas's size. Without --size and --keys, a frame has one line for
// each function.
static int fit(struct Ui *ui, const struct Options *options)
{
    int width = options->width, height = options->height;
    if (!width && options->keys) {
        width = Batch_width(WIDTH);
        height = HEIGHT;
    } else if (!width) {
        ui->bare = true;
        width = Batch_width(WIDTH);
        height = LAYOUT_HEADER + 2 + (int)ui->model.shown;
        if (height < LAYOUT_MIN_HEIGHT)
            height = LAYOUT_MIN_HEIGHT;
    }
    return Canvas_resize(&ui->canvas, width, height);
}

static void next_frame(struct Ui *ui)
{
    struct Feed *feed = ui->feed;
    double until = Feed_now() + FRAME_S + 2 * feed->rate_s;
    Feed_step(feed);
    while (Updates_poll(ui) == 0 && !feed->ended && !feed->paused &&
           Feed_now() < until)
        Feed_wait(feed, 50);
}

// Returns true if the keys so far have asked for something that has not come.
static bool lacks_answer(const struct Ui *ui)
{
    const struct View *view = Navigation_front(ui);
    return Feed_is_waiting(ui->feed) ||
           (view->is_reading && !ui->feed->ended && view->is_reading(ui));
}

static void take_answers(struct Ui *ui)
{
    double until = Feed_now() + ANSWER_MS / 1e3;
    // A recording always answers, so there is no timeout for it.
    while (lacks_answer(ui) && (Feed_is_past(ui->feed) || Feed_now() < until)) {
        Feed_wait(ui->feed, 50);
        Updates_poll(ui);
    }
}

// Presses the keys of --keys after the first snapshot. A frame is drawn after
// each key, and the next key waits for the answers to requests. The next key
// must wait, because a key, or the answer to its request, can change what the
// next key means.
static void press(struct Ui *ui, const char *keys)
{
    uint32_t key;
    while ((key = Key_parse(&keys)) != 0 && !ui->quit) {
        Frame_draw(ui);
        for (int i = 0; i < Key_frames(key); i++)
            next_frame(ui);
        if (!Key_frames(key))
            Keyboard_press(ui, key);
        take_answers(ui);
    }
}

// Reads asyncio's tasks if an event loop has run, because a script expects the
// same numbers as from ocular.snapshot(). Without the tasks, calls that are
// suspended can be missing. To read the tasks every second would cost a service
// a tenth of a percent of a core.
static void read_tasks(struct Ui *ui)
{
    double until = Feed_now() + ANSWER_MS / 1e3;
    if (Feed_is_replay(ui->feed) || !ui->model.snapshot->loop_count)
        return;
    Feed_ask(ui->feed, MESSAGE_TASKS, 0);
    while (VIEWS[VIEW_TASKS]->is_reading(ui) && !ui->feed->ended &&
           Feed_now() < until) {
        Feed_wait(ui->feed, 50);
        Updates_poll(ui);
    }
}

static int print(struct Ui *ui, const struct Options *options, long number)
{
    struct Bytes out;
    Bytes_init(&out);
    int error = 0;
    if (!options->json || options->keys)
        error = fit(ui, options);
    if (!error && number == 0 && options->keys)
        press(ui, options->keys);
    if (!error && number == 0 && !options->json)
        take_answers(ui);
    if (!error && options->json && options->once && !options->keys)
        read_tasks(ui);
    if (!error && options->json) {
        error = Ui_write_json(ui, &out);
    } else if (!error) {
        if (number)
            Bytes_put(&out, "\n", 1);
        Frame_draw(ui);
        Canvas_write(&ui->canvas, &out);
    }
    if (!error)
        error = flush(&out);
    Bytes_release(&out);
    return error;
}

// Returns true if tracing began when this viewer connected. If so, there are no
// numbers to print yet.
static bool is_empty(const struct Ui *ui)
{
    return *ui->feed->notice && !ui->feed->ended &&
           ui->model.snapshot->uptime_s < ARMED_S;
}

// If no snapshot has come in time, returns true with a message in `why`.
static bool is_late(const struct Ui *ui, const struct Options *options,
                    double since, char *why, size_t why_size)
{
    const struct Feed *feed = ui->feed;
    double patience = options->timeout_s;
    if (ui->model.snapshot)
        patience += feed->rate_s;
    if (Feed_is_past(feed) || Feed_now() - since < patience)
        return false;
    snprintf(why, why_size,
             "process %d has sent no snapshot for %.4g s (a longer --timeout "
             "waits longer)%s%s",
             (int)feed->pid, patience, *feed->notice ? ", and says: " : "",
             feed->notice);
    return true;
}

int Batch_run(struct Ui *ui, const struct Options *options, char *why,
              size_t why_size)
{
    struct Feed *feed = ui->feed;
    double since = Feed_now();
    long shown = 0;
    *why = 0;
    while (!ui->quit && (!options->frames || shown < options->frames)) {
        Feed_step(feed);
        int taken = Updates_poll(ui);
        int error;
        if (taken > 0 && is_empty(ui))
            taken = 0;
        error = taken > 0 ? print(ui, options, shown) : taken;
        if (error == -ENODATA)
            snprintf(why, why_size, "%s: there is nothing to print yet",
                     Navigation_front(ui)->name);
        else if (error)
            snprintf(why, why_size, "cannot go on: %s", strerror(-error));
        if (error)
            return error;
        shown += taken;
        if (taken)
            since = Feed_now();
        else if (feed->ended)
            break;
        else if (is_late(ui, options, since, why, why_size))
            return -ETIMEDOUT;
        if (!taken)
            Feed_wait(feed, WAIT_MS);
    }
    if (shown || ui->quit)
        return 0;
    snprintf(why, why_size, "%s, before any snapshot came", feed->reason);
    return -EPIPE;
}
