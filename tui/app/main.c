// SPDX-License-Identifier: MIT
// ocular-top: reads the command line, finds the process, and runs the screen
// or the batch. The only file of the viewer that prints and exits.
#include "ipc/version.h"
#include "tui/app/batch.h"
#include "tui/app/chooser.h"
#include "tui/app/frame.h"
#include "tui/app/keyboard.h"
#include "tui/app/options.h"
#include "tui/app/startup.h"
#include "tui/app/updates.h"
#include "tui/screen/terminal.h"
#include "tui/text/text.h"
#include "tui/views/ui.h"
#include "tui/views/view_table.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WHY 1024
#define TICK_MS 1000 // the screen says how long the process has been silent
#define LOOK_MS 1000 // the chooser looks for processes again

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
        "or, at no cost until then:  ocular.serve()\n"
        "or name one of another user or container:  ocular-top --pid PID\n",
        stderr);
    return EXIT_RUNTIME;
}

static void too_many(const struct Chooser *chooser)
{
    struct Bytes list;
    Bytes_init(&list);
    Chooser_write(chooser, &list);
    fputs("ocular-top: several processes serve; name one with --pid PID:\n",
          stderr);
    if (!list.error)
        fwrite(list.data, 1, list.size, stderr);
    Bytes_release(&list);
}

// Lets the user pick: what he chose (enum ChooserAnswer), or -errno.
static int pick(struct Chooser *chooser, struct Terminal *terminal, bool ascii)
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
        events = Terminal_wait(terminal, -1, LOOK_MS);
        while (!answer && (key = Terminal_key(terminal)) != 0)
            answer = Chooser_key(chooser, key);
        if (!answer && !(events & TERMINAL_KEYS))
            Chooser_look(chooser);
    }
    Canvas_release(&canvas);
    if (error)
        return error;
    return answer ? (int)answer : CHOOSER_QUIT;
}

// --- The screen

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
static int show(struct Ui *ui, struct Terminal *terminal,
                const struct Options *options)
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
        if (error || (options->frames && shown > options->frames))
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

// 0, or -errno with `why` in words; *leave: the user wants the list.
static int watch(const struct Options *options, const struct Served *served,
                 struct Terminal *terminal, bool *leave, char *why)
{
    struct Feed feed;
    struct Ui ui;
    struct Recording recording;
    int error = options->replay
                    ? Feed_replay(&feed, options->replay, terminal, why, WHY)
                    : Feed_open(&feed, served, options->delay_s, why, WHY);
    if (error)
        return error;
    if (options->record) {
        error = Recording_open(&recording, options->record, why, WHY);
        if (error) {
            Feed_close(&feed);
            return error;
        }
        Feed_record(&feed, &recording);
    }
    Ui_init(&ui, VIEWS, &feed, options->ascii);
    ui.model.sort = options->sort;
    if (options->filter)
        Model_filter(&ui.model, options->filter);
    if (terminal) {
        error = show(&ui, terminal, options);
        if (error)
            snprintf(why, WHY, "cannot go on: %s", strerror(-error));
    } else {
        error = Batch_run(&ui, options, why, WHY);
    }
    *leave = ui.leave;
    Ui_release(&ui);
    Feed_close(&feed);
    if (!options->record)
        return error;
    int failed = Recording_close(&recording);
    if (failed && !error)
        snprintf(why, WHY, "%s is not complete: %s", options->record,
                 strerror(-failed));
    return error ? error : failed;
}

// From the list to a process and back, until the user has had enough. `served`
// is where to begin, NULL: with the list.
static int go_round(const struct Options *options, const struct Served *served,
                    struct Terminal *terminal, char *why)
{
    struct Chooser chooser = {0};
    struct Served now = {0};
    bool leave = !served, picked = false;
    int error = 0;
    if (served)
        now = *served;
    do {
        if (leave) {
            Chooser_look(&chooser);
            Chooser_select(&chooser, now.pid);
            int answer = pick(&chooser, terminal, options->ascii);
            error = answer < 0 ? answer : 0;
            if (error || answer == CHOOSER_QUIT)
                break;
            if (answer == CHOOSER_CHOSEN)
                now = *Chooser_selected(&chooser);
            picked = true;
        }
        leave = false;
        error = watch(options, &now, terminal, &leave, why);
        chooser.back = !error;
        if (error && picked) { // it has gone meanwhile, or refuses
            Text_clean(chooser.message, sizeof chooser.message, why);
            leave = true;
        }
    } while (leave);
    Chooser_release(&chooser);
    return error < 0 ? error : 0;
}

// The process to begin with, or *several. 0, -errno with `why`, or -ESRCH
// without: nobody serves.
static int find(const struct Options *options, struct Served *served,
                bool *several, char *why)
{
    struct Chooser chooser = {0};
    *several = false;
    if (options->replay)
        return 0; // no process is needed
    if (options->pid)
        return Startup_find(served, options->pid, STARTUP_PATIENCE_S, stderr,
                            why, WHY);
    long count = Chooser_look(&chooser);
    *several = count > 1;
    if (count == 1)
        *served = *Chooser_selected(&chooser);
    else if (count > 1 && options->batch)
        too_many(&chooser);
    Chooser_release(&chooser);
    return count > 0 ? 0 : -ESRCH;
}

static int run(const struct Options *options)
{
    struct Served served = {.pid = options->pid};
    struct Terminal *terminal = NULL;
    char why[WHY] = "";
    bool several, leave;
    int error = find(options, &served, &several, why);
    if (error == -ESRCH && !*why)
        return no_process();
    if (!error && several && options->batch)
        return EXIT_RUNTIME; // too_many has said why
    if (!error && options->batch) {
        error = watch(options, &served, NULL, &leave, why);
    } else if (!error) {
        error = Terminal_open(
            &terminal, (struct TerminalWish){options->mono, options->no_mouse},
            why, sizeof why);
        if (!error)
            error = go_round(options, several ? NULL : &served, terminal, why);
        Terminal_close(terminal);
    }
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
