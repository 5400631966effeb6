// SPDX-License-Identifier: MIT
// The main function of ocular-top reads the command line, finds the process,
// and shows it on the terminal or in batch mode. No other file of the viewer
// prints errors or exits the process.
#include "ipc/version.h"
#include "tui/app/attaching.h"
#include "tui/app/batch.h"
#include "tui/app/chooser.h"
#include "tui/app/diff.h"
#include "tui/app/live.h"
#include "tui/app/options.h"
#include "tui/app/pick.h"
#include "tui/app/startup.h"
#include "tui/screen/terminal.h"
#include "tui/text/text.h"
#include "tui/views/navigation.h"
#include "tui/views/view_table.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WHY 1024

enum Exit { EXIT_FINE = 0, EXIT_RUNTIME = 1, EXIT_USAGE = 2 };

static int fail(enum Exit status, const char *why)
{
    char clean[WHY];
    Text_clean(clean, sizeof clean, why);
    fprintf(stderr, "ocular-top: %s\n", clean);
    return status;
}

// --- Choice of the process

static int no_process(void)
{
    fputs(
        "ocular-top: no process serves here.\n"
        "Start one so that it does:  python -m ocular --serve script.py\n"
        "or in the program:          ocular.start_tracing(serve=True)\n"
        "or, at no cost until then:  ocular.serve()\n"
        "or have one do so that runs:  ocular-top --attach --pid PID\n"
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

// --- Watching a process or a file

static bool begins_with(const char *path, const char *magic)
{
    char head[32];
    size_t size = strlen(magic);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool does = fd >= 0 && read(fd, head, size) == (ssize_t)size &&
                !memcmp(head, magic, size);
    if (fd >= 0)
        close(fd);
    return does;
}

// Returns true if a process with workers is to be shown together with them. A
// recording contains only one process.
static bool may_merge(const struct Options *options)
{
    return !options->alone && !options->attach && !options->record;
}

// Opens a process or a file. The first bytes of a file show which kind of
// recording it is.
static int open_feed(struct Feed *feed, const struct Options *options,
                     const struct Served *served, bool live, char why[WHY])
{
    const char *file = options->replay;
    if (!file && may_merge(options) && Fleet_is_wanted(served->pid))
        return Feed_open_fleet(feed, served->pid, options->delay_s, why, WHY);
    if (!file)
        return Feed_open(feed, served, options->delay_s, why, WHY);
    if (begins_with(file, PAST_RUN_MAGIC) ||
        (options->past && !begins_with(file, CAPTURE_MAGIC)))
        return Feed_open_past(
            feed, &(struct PastRequest){file, options->before, !live}, why,
            WHY);
    return Feed_replay(feed, file, live, why, WHY);
}

// Shows one process, or plays one recording, until the end. `terminal` is NULL
// in batch mode. Returns 0, or -errno with the reason in `why`. Sets *leave if
// the user wants to return to the list of processes.
static int watch(const struct Options *options, const struct Served *served,
                 struct Terminal *terminal, bool *leave, char why[WHY])
{
    struct Feed feed;
    struct Ui ui;
    struct Capture recording;
    int error = open_feed(&feed, options, served, terminal, why);
    if (error)
        return error;
    if (options->record) {
        error = Capture_open(&recording, options->record, why, WHY);
        if (error) {
            Feed_close(&feed);
            return error;
        }
        Feed_record(&feed, &recording);
    }
    Ui_init(&ui, VIEWS, &feed, options->ascii);
    if (feed.link.fleet)
        ui.model.fleet = Fleet_standouts(feed.link.fleet);
    if (COLUMNS[options->sort].latency)
        Navigation_open(&ui, VIEW_LATENCY);
    ui.model.sort = options->sort;
    if (options->before)
        Navigation_open(&ui, VIEW_COMPARE);
    if (options->filter)
        Model_filter(&ui.model, options->filter);
    Model_set_own(&ui.model, options->own);
    if (terminal) {
        error = Live_run(&ui, terminal, options->frames);
        if (error)
            snprintf(why, WHY, "cannot go on: %s", strerror(-error));
    } else {
        error = Batch_run(&ui, options, why, WHY);
    }
    *leave = ui.leave;
    if (!terminal && !error && Feed_is_past(&feed) &&
        *PastRun_note(feed.link.past))
        fprintf(stderr, "ocular-top: %s: %s\n", options->replay,
                PastRun_note(feed.link.past));
    Ui_release(&ui);
    Feed_close(&feed);
    if (!options->record)
        return error;
    int failed = Capture_close(&recording);
    if (failed && !error)
        snprintf(why, WHY, "%s is not complete: %s", options->record,
                 strerror(-failed));
    return error ? error : failed;
}

struct Round { // The variables of go_round().
    const struct Options *options;
    struct Terminal *terminal;
    struct Attaching attaching;
};

// Sets *now to the process that the user has chosen. If the process does not
// serve viewers, attaches first. Returns 0, or -errno with the reason in `why`
// and *now unchanged.
static int take_chosen(struct Round *round, const struct ChooserRow *row,
                       struct Served *now, char *why)
{
    struct Served chosen = row->served;
    // The question about a seccomp filter was already answered in the list of
    // processes.
    struct AttachRequest request = {chosen.pid, round->options->package, true};
    int error = 0;
    if (row->other)
        error = Attaching_begin(&round->attaching, &request, &chosen, why, WHY);
    if (!error)
        *now = chosen;
    return error;
}

// Shows the list of processes and the chosen process by turns, until the user
// quits. Begins with the process `served`, or with the list if `served` is
// NULL.
static int go_round(struct Round *round, const struct Served *served, char *why)
{
    const struct Options *options = round->options;
    struct Chooser chooser = {.all = true, .package = options->package};
    struct Served now = {0};
    bool leave = !served, picked = false;
    int error = 0;
    if (served)
        now = *served;
    do {
        int answer = CHOOSER_BACK;
        error = 0;
        if (leave) {
            Chooser_refresh(&chooser);
            if (!*chooser.message)
                Chooser_select(&chooser, now.pid);
            answer = Pick_run(&chooser, round->terminal, options->ascii);
            error = answer < 0 ? answer : 0;
            if (error || answer == CHOOSER_QUIT)
                break;
            picked = true;
        }
        leave = false;
        *chooser.message = 0;
        if (answer == CHOOSER_CHOSEN)
            error = take_chosen(round, Chooser_selected(&chooser), &now, why);
        if (!error) {
            struct Options shown = *options;
            shown.alone |= answer == CHOOSER_CHOSEN && chooser.alone;
            error = watch(&shown, &now, round->terminal, &leave, why);
            chooser.back = !error;
        }
        // The process has ended in the meantime, or it refuses this viewer.
        if (error && picked) {
            Text_clean(chooser.message, sizeof chooser.message, why);
            leave = true;
        }
    } while (leave);
    Chooser_release(&chooser);
    return error < 0 ? error : 0;
}

// Carries out --list: prints one line for each process that serves viewers.
static int list(void)
{
    struct Chooser chooser = {0};
    struct Bytes lines;
    Bytes_init(&lines);
    Chooser_refresh(&chooser);
    Chooser_write(&chooser, &lines);
    if (!lines.error)
        fwrite(lines.data, 1, lines.size, stdout);
    Bytes_release(&lines);
    Chooser_release(&chooser);
    return fflush(stdout) ? EXIT_RUNTIME : EXIT_FINE;
}

// Finds the process of --pid. If Ocular does not run in the process and the
// user agrees, attaches to it.
static int find_one(const struct Options *options, struct Served *served,
                    struct Attaching *attaching, char *why)
{
    int error = options->attach ? Address_find(served, options->pid, why, WHY)
                                : Startup_find(served, options->pid,
                                               may_merge(options), why, WHY);
    struct AttachRequest request = {options->pid, options->package,
                                    !options->attach};
    if (error == -ENOENT && Attaching_is_wanted(options))
        error = Attaching_begin(attaching, &request, served, why, WHY);
    return error;
}

// Finds the process to show first, or sets *several if the user has to choose
// one. Returns 0, -errno with the reason in `why`, or -ESRCH with `why` empty
// if no process serves viewers.
static int find(const struct Options *options, struct Served *served,
                struct Attaching *attaching, bool *several, char *why)
{
    struct Chooser chooser = {0};
    *several = false;
    if (options->replay)
        return 0; // A file or --list needs no process.
    if (options->pid)
        return find_one(options, served, attaching, why);
    long count = Chooser_refresh(&chooser);
    *several = count > 1 || (count == 0 && !options->batch);
    if (count == 1)
        *served = chooser.rows->served;
    else if (count > 1 && options->batch)
        too_many(&chooser);
    Chooser_release(&chooser);
    return count > 0 || *several ? 0 : -ESRCH;
}

static int run(const struct Options *options)
{
    struct Served served = {.pid = options->pid};
    struct Round round = {.options = options};
    struct Attaching *attaching = &round.attaching;
    char why[WHY] = "", end[WHY] = "";
    bool several, leave, left = false;
    int error = find(options, &served, attaching, &several, why);
    if (error == -ESRCH && !*why)
        return no_process();
    if (!error && several && options->batch)
        return EXIT_RUNTIME; // too_many() has printed the reason.
    if (!error && options->batch) {
        error = watch(options, &served, NULL, &leave, why);
    } else if (!error) {
        error = Terminal_open(
            &round.terminal,
            (struct TerminalRequest){options->mono, options->no_mouse}, why,
            sizeof why);
        if (!error)
            error = go_round(&round, several ? NULL : &served, why);
        Terminal_close(round.terminal);
    }
    while (attaching->count) {
        if (!Attaching_end(attaching, options->package, end, WHY))
            continue;
        fail(EXIT_RUNTIME, end);
        left = true;
    }
    if (error)
        return fail(options->past ? EXIT_USAGE : EXIT_RUNTIME,
                    *why ? why : strerror(-error));
    return left ? EXIT_RUNTIME : EXIT_FINE;
}

// Carries out --attach-only or --detach.
static int command(const struct Options *options)
{
    char why[WHY] = "";
    int error = Attaching_command(options, why, WHY);
    if (error)
        return fail(EXIT_RUNTIME, *why ? why : strerror(-error));
    printf("ocular-top: %s\n", why);
    return fflush(stdout) ? EXIT_RUNTIME : EXIT_FINE;
}

static int diff(const struct Options *options)
{
    bool slower;
    char why[WHY] = "";
    int error = Diff_run(options, &slower, why, WHY);
    if (error)
        return fail(EXIT_USAGE, *why ? why : strerror(-error));
    return slower ? EXIT_RUNTIME : EXIT_FINE;
}

static void read_environment(struct Options *options)
{
    const char *no_color = getenv("NO_COLOR");
    // Takes only the character set from the locale, because JSON with a decimal
    // comma would be invalid.
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
    read_environment(&options);
    if (options.list)
        return list();
    if (options.diff)
        return diff(&options);
    if (options.attach_only || options.detach)
        return command(&options);
    return run(&options);
}
