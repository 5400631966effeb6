// SPDX-License-Identifier: MIT
// ocular-top: reads the command line, finds the process, and runs the screen
// or the batch. The only file of the viewer that prints and exits.
#include "ipc/version.h"
#include "tui/batch.h"
#include "tui/chooser.h"
#include "tui/keyboard.h"
#include "tui/options.h"
#include "tui/screen.h"
#include "tui/terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WHY 1024
#define TICK_MS 1000 // the screen says how long the process has been silent
#define LOOK_MS 2000 // the chooser looks for processes again

enum Exit { EXIT_FINE = 0, EXIT_RUNTIME = 1, EXIT_USAGE = 2 };

static int fail(enum Exit status, const char *why)
{
    char clean[WHY];
    Text_clean(clean, sizeof clean, why);
    fprintf(stderr, "ocular-top: %s\n", clean);
    return status;
}

// --- Which process

static int no_process(void)
{
    fputs(
        "ocular-top: no process serves here.\n"
        "Start one so that it does:  python -m ocular --serve script.py\n"
        "or in the program:          ocular.start_tracing(serve=True)\n"
        "or name one of another user or container:  ocular-top --pid PID\n",
        stderr);
    return EXIT_RUNTIME;
}

static int too_many(const struct Chooser *chooser)
{
    struct Bytes list;
    Bytes_init(&list);
    Chooser_write(chooser, &list);
    fputs("ocular-top: several processes serve; name one with --pid PID:\n",
          stderr);
    if (!list.error)
        fwrite(list.data, 1, list.size, stderr);
    Bytes_release(&list);
    return EXIT_RUNTIME;
}

// Lets the user pick. 1 when one is chosen, 0 when the user leaves, or -errno.
static int pick(struct Chooser *chooser, struct Terminal *terminal, bool ascii)
{
    struct Canvas canvas;
    int chosen = 0, events = TERMINAL_RESIZED, error = 0;
    Canvas_init(&canvas, ascii);
    while (!chosen && !error && !(events & TERMINAL_QUIT)) {
        int width, height;
        uint32_t key;
        Terminal_size(terminal, &width, &height);
        if (events & TERMINAL_RESIZED)
            error = Canvas_resize(&canvas, width, height);
        if (error)
            break;
        Chooser_draw(chooser, &canvas);
        Terminal_draw(terminal, &canvas);
        events = Terminal_wait(terminal, -1, LOOK_MS);
        while (!chosen && (key = Terminal_key(terminal)) != 0)
            chosen = Chooser_key(chooser, key);
        if (!events)
            Chooser_look(chooser);
    }
    Canvas_release(&canvas);
    return error ? error : chosen > 0;
}

// --- The screen

static void draw(struct Screen *screen, struct Terminal *terminal)
{
    Screen_draw(screen);
    if (screen->redraw)
        Terminal_distrust(terminal);
    screen->redraw = false;
    Terminal_draw(terminal, &screen->canvas);
}

static int show(struct Screen *screen, struct Terminal *terminal,
                const struct Options *options)
{
    int events = TERMINAL_RESIZED, error = 0;
    long shown = 0;
    while (!error && !screen->quit && !(events & TERMINAL_QUIT)) {
        int width, height, taken;
        uint32_t key;
        if (events & TERMINAL_RESIZED) {
            Terminal_size(terminal, &width, &height);
            error = Screen_resize(screen, width, height);
        }
        taken = error ? error : Screen_poll(screen);
        error = taken < 0 ? taken : error;
        shown += taken > 0;
        if (error || (options->frames && shown > options->frames))
            break;
        // A large snapshot comes in many pieces: only the last is worth a
        // frame.
        if (events != TERMINAL_OTHER || screen->changed)
            draw(screen, terminal);
        events = Terminal_wait(terminal, Feed_fd(screen->feed), TICK_MS);
        while (!screen->quit && (key = Terminal_key(terminal)) != 0) {
            Keyboard_press(screen, key);
            Screen_draw(screen); // a key may mean another thing after it
        }
    }
    return error;
}

static int watch(const struct Options *options, const struct Served *served,
                 struct Terminal *terminal, char *why)
{
    struct Feed feed;
    struct Screen screen;
    int error = Feed_open(&feed, served, options->delay_s, why, WHY);
    if (error)
        return error;
    Screen_init(&screen, &feed, options->ascii);
    screen.model.sort = options->sort;
    if (options->filter)
        Model_filter(&screen.model, options->filter);
    if (terminal) {
        error = show(&screen, terminal, options);
        if (error)
            snprintf(why, WHY, "cannot go on: %s", strerror(-error));
    } else {
        error = Batch_run(&screen, options, why, WHY);
    }
    Screen_release(&screen);
    Feed_close(&feed);
    return error;
}

static int run(const struct Options *options)
{
    struct Chooser chooser = {0};
    struct Served served = {.pid = options->pid};
    struct Terminal *terminal = NULL;
    char why[WHY] = "";
    int error = 0, chosen = 1;
    if (options->pid)
        error = Address_find(&served, options->pid, why, sizeof why);
    else if (Chooser_look(&chooser) <= 0)
        return no_process();
    if (!error && chooser.count > 1 && options->batch) {
        error = too_many(&chooser);
        Chooser_release(&chooser);
        return error;
    }
    if (!error && !options->batch)
        error = Terminal_open(&terminal, options->mono, why, sizeof why);
    if (!error && chooser.count > 1) {
        chosen = pick(&chooser, terminal, options->ascii);
        error = chosen < 0 ? chosen : 0;
    }
    if (!error && chosen && chooser.count)
        served = chooser.list[chooser.selected];
    if (!error && chosen)
        error = watch(options, &served, terminal, why);
    Terminal_close(terminal);
    Chooser_release(&chooser);
    if (error)
        return fail(EXIT_RUNTIME, *why ? why : strerror(-error));
    return EXIT_FINE;
}

static void look_around(struct Options *options)
{
    const char *no_color = getenv("NO_COLOR");
    // Only characters: a decimal comma would be no JSON.
    setlocale(LC_CTYPE, "");
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        options->ascii = true;
    if (no_color && *no_color)
        options->mono = true;
    if (!isatty(STDOUT_FILENO))
        options->batch = true;
}

int main(int argc, char **argv)
{
    struct Options options;
    char why[WHY];
    if (Options_parse(&options, argc, argv, why, sizeof why)) {
        setlocale(LC_CTYPE, "");
        fail(EXIT_USAGE, why);
        fputs("Try: ocular-top --help\n", stderr);
        return EXIT_USAGE;
    }
    if (options.help || options.version) {
        fputs(options.help ? OPTIONS_USAGE : "ocular-top " OCULAR_VERSION "\n",
              stdout);
        return fflush(stdout) ? EXIT_RUNTIME : EXIT_FINE;
    }
    look_around(&options);
    return run(&options);
}
