// SPDX-License-Identifier: MIT
// See batch.h.
#include "tui/app/batch.h"

#include "tui/app/keyboard.h"
#include "tui/screen/keymap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH 150
#define HEIGHT 40
#define ANSWER_MS 2000 // how long --keys waits for what it asked for
#define WAIT_MS 1000
#define FRAME_S 2   // that <Frame> waits beyond the rate, at most
#define ARMED_S 0.9 // of tracing that are worth a frame

static int flush(struct Bytes *bytes)
{
    if (bytes->error)
        return bytes->error;
    if (fwrite(bytes->data, 1, bytes->size, stdout) != bytes->size ||
        fflush(stdout))
        return -errno;
    return 0;
}

static int default_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
        size.ws_col >= LAYOUT_MIN_WIDTH)
        return size.ws_col;
    return WIDTH;
}

// Without a size a frame is as long as there are functions.
static int fit(struct Screen *screen, const struct Options *options)
{
    int width = options->width, height = options->height;
    if (!width && options->keys) {
        width = default_width();
        height = HEIGHT;
    } else if (!width) {
        screen->bare = true;
        width = default_width();
        height = LAYOUT_HEADER + 2 + (int)screen->model.shown;
        if (height < LAYOUT_MIN_HEIGHT)
            height = LAYOUT_MIN_HEIGHT;
    }
    return Screen_resize(screen, width, height);
}

static void next_frame(struct Screen *screen)
{
    struct Feed *feed = screen->feed;
    double until = Feed_now() + FRAME_S + 2 * feed->rate_s;
    Feed_step(feed);
    while (Screen_poll(screen) == 0 && !feed->ended && !feed->paused &&
           Feed_now() < until)
        Feed_wait(feed, 50);
}

static void take_answers(struct Screen *screen)
{
    double until = Feed_now() + ANSWER_MS / 1e3;
    while (Feed_is_waiting(screen->feed) && Feed_now() < until) {
        Feed_wait(screen->feed, 50);
        Screen_poll(screen);
    }
}

// Presses the keys on the first snapshot; a key may change what a later one
// means, hence the frame composed for each, and so may what it has asked for.
static void press(struct Screen *screen, const char *keys)
{
    uint32_t key;
    while ((key = Key_parse(&keys)) != 0 && !screen->quit) {
        Screen_draw(screen);
        for (int i = 0; i < Key_frames(key); i++)
            next_frame(screen);
        if (!Key_frames(key))
            Keyboard_press(screen, key);
        take_answers(screen);
    }
}

static int print(struct Screen *screen, const struct Options *options,
                 long number)
{
    struct Bytes out;
    Bytes_init(&out);
    int error = 0;
    if (!options->json || options->keys)
        error = fit(screen, options);
    if (!error && number == 0 && options->keys)
        press(screen, options->keys);
    if (!error && options->json) {
        error = Screen_json(screen, &out);
    } else if (!error) {
        if (number)
            Bytes_put(&out, "\n", 1);
        Screen_draw(screen);
        Canvas_write(&screen->canvas, &out);
    }
    if (!error)
        error = flush(&out);
    Bytes_release(&out);
    return error;
}

// Was tracing armed for us just now? Then there is nothing to read yet.
static bool is_empty(const struct Screen *screen)
{
    return *screen->feed->notice && !screen->feed->ended &&
           screen->model.snapshot->uptime_s < ARMED_S;
}

int Batch_run(struct Screen *screen, const struct Options *options, char *why,
              size_t why_size)
{
    struct Feed *feed = screen->feed;
    long shown = 0;
    *why = 0;
    while (!screen->quit && (!options->frames || shown < options->frames)) {
        Feed_step(feed);
        int taken = Screen_poll(screen);
        int error;
        if (taken > 0 && is_empty(screen))
            taken = 0;
        error = taken > 0 ? print(screen, options, shown) : taken;
        if (error == -ENODATA)
            snprintf(why, why_size, "%s: there is nothing to print yet",
                     View_of(screen)->name);
        else if (error)
            snprintf(why, why_size, "cannot go on: %s", strerror(-error));
        if (error)
            return error;
        shown += taken;
        if (!taken && feed->ended)
            break;
        if (!taken)
            Feed_wait(feed, WAIT_MS);
    }
    if (shown || screen->quit)
        return 0;
    snprintf(why, why_size, "%s, before any snapshot came", feed->reason);
    return -EPIPE;
}
