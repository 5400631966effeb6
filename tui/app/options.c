// SPDX-License-Identifier: MIT
#include "tui/app/options.h"

#include "tui/model/feed.h"
#include "tui/screen/keymap.h"
#include "tui/text/text.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MOST 1000
#define TIMEOUT_S 10
#define TIMEOUT_MOST_S 86400.0

const char OPTIONS_USAGE[] =
    "usage: ocular-top [options] [[before.ocular] run.ocular]\n"
    "Shows live where a Python program that Ocular traces spends its time.\n"
    "  ocular-top                        the one that serves, or a list of "
    "them\n"
    "  ocular-top -p PID --once --json   this one's numbers, for scripts\n"
    "  ocular-top [a.ocular] b.ocular    a run that is over; or two, compared\n"
    "\n"
    "  -p, --pid PID      the process, also in a container (as root); waits 5 "
    "s "
    "for\n"
    "                     one that is coming up\n"
    "      --attach       with --pid: where it does not serve, have it do so "
    "until\n"
    "                     the viewer leaves\n"
    "      --attach-only  have it serve, and leave\n"
    "      --detach       end what --attach-only began\n"
    "      --alone        with --pid: without the workers of this process\n"
    "      --list         print which processes serve\n"
    "      --package DIR  where an Ocular for --attach is that the program has "
    "not\n"
    "  -d, --delay SEC    seconds between snapshots, 0.1 to 60 (1)\n"
    "  -s, --sort COLUMN  share, calls/s, avg, self, state, function... "
    "(share)\n"
    "  -F, --filter TEXT  only functions whose name or path has TEXT in it\n"
    "      --own          only the program's own code, no libraries\n"
    "  -n, --count N      leave after N snapshots\n"
    "      --batch        print frames as text; so does a stdout that is no "
    "terminal\n"
    "      --once         print one frame: --batch -n 1\n"
    "      --timeout SEC  of both: give up where no snapshot comes for so long "
    "(10)\n"
    "      --json         print snapshots, or what --keys lead to, as JSON "
    "lines\n"
    "      --keys KEYS    press keys first (\"jj>/parse<Enter>\"), print "
    "the screen\n"
    "      --size WxH     the size of what is printed; without it all rows "
    "are,\n"
    "                     after --keys 40 lines\n"
    "      --diff         print how two recordings differ, as ocular diff "
    "does\n"
    "      --fail-above N%  of it: fail if a function is slower by more\n"
    "      --record FILE  store what the process sends, to look at later\n"
    "      --replay FILE  show that, as if it were live\n"
    "  -C, --no-color     no colours; so does NO_COLOR\n"
    "  -U, --ascii        ASCII only; so does a locale that is not UTF-8\n"
    "  -M, --no-mouse     the terminal keeps the mouse, to select text\n"
    "  -V, --version      print the version\n"
    "  -h, --help         print this\n"
    "\n"
    "A program can be watched if it was started so: ocular --serve script.py\n"
    "or calls ocular.start_tracing(serve=True), or, at no cost until somebody\n"
    "looks, ocular.serve(). See also ocular-top(1).\n";

struct Complaint {
    char *why;
    size_t size;
};

static int complain(const struct Complaint *complaint, const char *wanted,
                    const char *given)
{
    char clean[80];
    Text_clean(clean, sizeof clean, given);
    snprintf(complaint->why, complaint->size, "%s, not \"%s\"", wanted, clean);
    return -EINVAL;
}

// Sets the error message to `words`, followed by `given`, which can be "".
static int object(const struct Complaint *complaint, const char *words,
                  const char *given)
{
    char clean[80];
    Text_clean(clean, sizeof clean, given);
    snprintf(complaint->why, complaint->size, "%s%s%s", words,
             *clean ? " " : "", clean);
    return -EINVAL;
}

// Reads a whole number from 1 to `most`. Returns false for any other text.
static bool read_number(const char *text, long most, long *number)
{
    char *end;
    errno = 0;
    *number = strtol(text, &end, 10);
    return isdigit((unsigned char)*text) && !*end && !errno && *number > 0 &&
           *number <= most;
}

static bool read_seconds(const char *text, double most, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    return end != text && !*end && *seconds >= FEED_RATE_MIN &&
           *seconds <= most;
}

static int take_pid(struct Options *options, const char *text,
                    const struct Complaint *complaint)
{
    long number;
    if (!read_number(text, INT_MAX, &number))
        return complain(complaint, "--pid takes a process id", text);
    options->pid = (pid_t)number;
    return 0;
}

static int take_count(struct Options *options, const char *text,
                      const struct Complaint *complaint)
{
    if (!read_number(text, LONG_MAX, &options->frames))
        return complain(complaint, "--count takes a number above 0", text);
    return 0;
}

static int take_delay(struct Options *options, const char *text,
                      const struct Complaint *complaint)
{
    if (!read_seconds(text, FEED_RATE_MAX, &options->delay_s))
        return complain(complaint, "--delay takes 0.1 to 60 seconds", text);
    return 0;
}

static int take_timeout(struct Options *options, const char *text,
                        const struct Complaint *complaint)
{
    if (!read_seconds(text, TIMEOUT_MOST_S, &options->timeout_s))
        return complain(complaint, "--timeout takes 0.1 to 86400 seconds",
                        text);
    return 0;
}

// Reads a percentage, for example "10%" or "10".
static int take_limit(struct Options *options, const char *text,
                      const struct Complaint *complaint)
{
    char *end;
    options->fail_above = strtod(text, &end) / 100;
    if (end == text || (*end && strcmp(end, "%") != 0) ||
        !(options->fail_above >= 0 && options->fail_above < 1e6))
        return complain(complaint, "--fail-above takes per cent, as 10%", text);
    return 0;
}

static int take_sort(struct Options *options, const char *text,
                     const struct Complaint *complaint)
{
    char wanted[256] = "--sort takes one of";
    size_t used = strlen(wanted);
    options->sort = Column_find(text);
    if (options->sort != COLUMN_COUNT)
        return 0;
    for (int i = 0; i < COLUMN_COUNT; i++)
        used += (size_t)snprintf(wanted + used, sizeof wanted - used, " %s",
                                 COLUMNS[i].name);
    return complain(complaint, wanted, text);
}

static int take_size(struct Options *options, const char *text,
                     const struct Complaint *complaint)
{
    char rest;
    if (sscanf(text, "%4dx%4d%c", &options->width, &options->height, &rest) !=
            2 ||
        options->width < 1 || options->height < 1 ||
        options->width > SIZE_MOST || options->height > SIZE_MOST)
        return complain(complaint, "--size takes WIDTHxHEIGHT, as 150x40",
                        text);
    return 0;
}

static int take_keys(struct Options *options, const char *text,
                     const struct Complaint *complaint)
{
    const char *at = text;
    options->keys = text;
    while (Key_parse(&at))
        ;
    if (*at)
        return complain(complaint,
                        "--keys takes keys and names in <>, as \"jj<Enter>\" "
                        "(<lt> is <)",
                        at);
    return 0;
}

// An option on the command line. The value of the option is stored in a member
// of struct Options, unless the function `take` handles the option.
struct Choice {
    const char *name;
    char letter; // Short form of the option, or 0.
    bool valued; // True if a value follows the option.
    size_t member;
    int (*take)(struct Options *options, const char *text,
                const struct Complaint *complaint);
};

#define AT(member) offsetof(struct Options, member)
static const struct Choice choices[] = {
    {"pid", 'p', true, 0, take_pid},
    {"delay", 'd', true, 0, take_delay},
    {"sort", 's', true, 0, take_sort},
    {"filter", 'F', true, AT(filter), NULL},
    {"own", 0, false, AT(own), NULL},
    {"count", 'n', true, 0, take_count},
    {"once", 0, false, AT(once), NULL},
    {"batch", 0, false, AT(batch), NULL},
    {"timeout", 0, true, 0, take_timeout},
    {"json", 0, false, AT(json), NULL},
    {"keys", 0, true, 0, take_keys},
    {"size", 0, true, 0, take_size},
    {"record", 0, true, AT(record), NULL},
    {"replay", 0, true, AT(replay), NULL},
    {"attach", 0, false, AT(attach), NULL},
    {"attach-only", 0, false, AT(attach_only), NULL},
    {"detach", 0, false, AT(detach), NULL},
    {"alone", 0, false, AT(alone), NULL},
    {"list", 0, false, AT(list), NULL},
    {"package", 0, true, AT(package), NULL},
    {"diff", 0, false, AT(diff), NULL},
    {"fail-above", 0, true, 0, take_limit},
    {"no-color", 'C', false, AT(mono), NULL},
    {"ascii", 'U', false, AT(ascii), NULL},
    {"no-mouse", 'M', false, AT(no_mouse), NULL},
    {"version", 'V', false, AT(version), NULL},
    {"help", 'h', false, AT(help), NULL},
};
#define CHOICES (sizeof choices / sizeof *choices)
// Number that getopt_long() returns for the long form of choices[0].
#define LONG_FORM 256

static int take(struct Options *options, const struct Choice *choice,
                const char *value, const struct Complaint *complaint)
{
    void *member = (char *)options + choice->member;
    if (choice->take)
        return choice->take(options, value, complaint);
    if (choice->valued)
        *(const char **)member = value;
    else
        *(bool *)member = true;
    return 0;
}

// Converts all choices to the format of getopt_long().
static void list_choices(struct option *longs, char *letters)
{
    for (size_t i = 0; i < CHOICES; i++) {
        const struct Choice *choice = &choices[i];
        const char letter[] = {choice->letter, '\0'};
        longs[i] = (struct option){
            choice->name, choice->valued ? required_argument : no_argument,
            NULL, LONG_FORM + (int)i};
        strcat(letters, letter);
        strcat(letters, choice->letter && choice->valued ? ":" : "");
    }
}

// Returns the choice for the number that getopt_long() has returned.
static const struct Choice *find(int option)
{
    const struct Choice *choice = choices;
    if (option >= LONG_FORM)
        return &choices[option - LONG_FORM];
    while (choice->letter != option)
        choice++;
    return choice;
}

// Reports an unknown option. The option is one letter of a group of short
// options, or a whole word.
static int no_option(const struct Complaint *complaint, const char *word)
{
    const char letter[] = {'-', (char)optopt, '\0'};
    bool is_letter = optopt > 0 && optopt < LONG_FORM;
    return object(complaint, "there is no option", is_letter ? letter : word);
}

// Takes the files of recordings that are given without an option.
static int take_files(struct Options *options, int count, char **files,
                      const struct Complaint *complaint)
{
    bool is_pid = count && strspn(*files, "0123456789") == strlen(*files);
    if (!count)
        return 0;
    if (is_pid)
        return complain(complaint, "--pid PID names a process", *files);
    if (count > 2 || options->replay)
        return complain(complaint, "one recording is shown, or two compared",
                        files[count - 1]);
    options->before = count > 1 ? files[0] : NULL;
    options->replay = files[count - 1];
    options->past = true;
    return 0;
}

int Options_parse(struct Options *options, int argc, char **argv, char *why,
                  size_t why_size)
{
    const struct Complaint complaint = {why, why_size};
    struct option longs[CHOICES + 1] = {{0}};
    char letters[2 * CHOICES + 2] = ":";
    int option, error = 0;
    *options = (struct Options){.delay_s = 1,
                                .timeout_s = TIMEOUT_S,
                                .sort = COLUMN_SHARE,
                                .fail_above = NAN};
    list_choices(longs, letters);
    opterr = 0;
    optind = 0; // Makes getopt_long() start from the first argument again.
    while (!error &&
           (option = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        if (option == ':')
            return object(&complaint, "a value must follow", argv[optind - 1]);
        if (option == '?')
            return no_option(&complaint, argv[optind - 1]);
        error = take(options, find(option), optarg, &complaint);
    }
    if (!error)
        error = take_files(options, argc - optind, argv + optind, &complaint);
    if (!error && options->replay && (options->record || options->pid))
        return object(&complaint,
                      "a recording goes with neither --record nor --pid", "");
    if (!error && !options->pid &&
        (options->attach || options->attach_only || options->detach))
        return object(&complaint, "--attach and --detach need --pid PID", "");
    if (!error && !options->before &&
        (options->diff || isfinite(options->fail_above)))
        return object(&complaint, "--diff compares two recordings", "");
    if (options->once && !options->frames)
        options->frames = 1;
    options->batch |=
        options->once || options->json || options->keys || options->width;
    return error;
}
