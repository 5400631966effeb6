// SPDX-License-Identifier: MIT
// See options.h.
#include "tui/app/options.h"

#include "tui/model/feed.h"
#include "tui/screen/keymap.h"
#include "tui/text/text.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
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
    "      --list         print which processes serve\n"
    "      --package DIR  where an Ocular for --attach is that the program has "
    "not\n"
    "  -d, --delay SEC    seconds between snapshots, 0.1 to 60 (1)\n"
    "  -s, --sort COLUMN  share, calls/s, avg, self, state, function... "
    "(share)\n"
    "  -F, --filter TEXT  only functions whose name or path has TEXT in it\n"
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

enum Long {
    LONG_ONCE = 256,
    LONG_BATCH,
    LONG_TIMEOUT,
    LONG_JSON,
    LONG_KEYS,
    LONG_SIZE,
    LONG_RECORD,
    LONG_REPLAY,
    LONG_ATTACH,
    LONG_ATTACH_ONLY,
    LONG_DETACH,
    LONG_LIST,
    LONG_PACKAGE,
    LONG_DIFF,
    LONG_FAIL_ABOVE
};

#define LETTERS ":p:d:s:F:n:CUMVh"

static const struct option longs[] = {
    {"pid", required_argument, NULL, 'p'},
    {"delay", required_argument, NULL, 'd'},
    {"sort", required_argument, NULL, 's'},
    {"filter", required_argument, NULL, 'F'},
    {"count", required_argument, NULL, 'n'},
    {"once", no_argument, NULL, LONG_ONCE},
    {"batch", no_argument, NULL, LONG_BATCH},
    {"timeout", required_argument, NULL, LONG_TIMEOUT},
    {"json", no_argument, NULL, LONG_JSON},
    {"keys", required_argument, NULL, LONG_KEYS},
    {"size", required_argument, NULL, LONG_SIZE},
    {"record", required_argument, NULL, LONG_RECORD},
    {"replay", required_argument, NULL, LONG_REPLAY},
    {"attach", no_argument, NULL, LONG_ATTACH},
    {"attach-only", no_argument, NULL, LONG_ATTACH_ONLY},
    {"detach", no_argument, NULL, LONG_DETACH},
    {"list", no_argument, NULL, LONG_LIST},
    {"package", required_argument, NULL, LONG_PACKAGE},
    {"diff", no_argument, NULL, LONG_DIFF},
    {"fail-above", required_argument, NULL, LONG_FAIL_ABOVE},
    {"no-color", no_argument, NULL, 'C'},
    {"ascii", no_argument, NULL, 'U'},
    {"no-mouse", no_argument, NULL, 'M'},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

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

// Sets the error message to `words`, followed by the text `given`, which may be
// "".
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

// "10%" or "10".
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

// Handles the options about attaching and comparing. Returns false for other
// options.
static bool take_command(struct Options *options, int option, const char *value)
{
    switch (option) {
    case LONG_DIFF:
        options->diff = true;
        return true;
    case LONG_FAIL_ABOVE:
        options->limit = value;
        return true;
    case LONG_ATTACH:
        options->attach = true;
        return true;
    case LONG_ATTACH_ONLY:
        options->attach_only = true;
        return true;
    case LONG_DETACH:
        options->detach = true;
        return true;
    case LONG_LIST:
        options->list = true;
        return true;
    case LONG_PACKAGE:
        options->package = value;
        return true;
    default:
        return false;
    }
}

static int take(struct Options *options, int option, const char *value,
                const struct Complaint *complaint)
{
    long number;
    switch (option) {
    case 'p':
        if (!read_number(value, INT_MAX, &number))
            return complain(complaint, "--pid takes a process id", value);
        options->pid = (pid_t)number;
        return 0;
    case 'd':
        return take_delay(options, value, complaint);
    case 's':
        return take_sort(options, value, complaint);
    case 'F':
        options->filter = value;
        return 0;
    case 'n':
        if (!read_number(value, LONG_MAX, &options->frames))
            return complain(complaint, "--count takes a number above 0", value);
        return 0;
    case LONG_ONCE:
        options->frames = 1;
        options->batch = true;
        return 0;
    case LONG_BATCH:
        options->batch = true;
        return 0;
    case LONG_TIMEOUT:
        return take_timeout(options, value, complaint);
    case LONG_JSON:
        options->json = options->batch = true;
        return 0;
    case LONG_KEYS:
        return take_keys(options, value, complaint);
    case LONG_SIZE:
        return take_size(options, value, complaint);
    case LONG_RECORD:
        options->record = value;
        return 0;
    case LONG_REPLAY:
        options->replay = value;
        return 0;
    case 'C':
        options->mono = true;
        return 0;
    case 'U':
        options->ascii = true;
        return 0;
    case 'M':
        options->no_mouse = true;
        return 0;
    case 'V':
        options->version = true;
        return 0;
    default:
        options->help = !take_command(options, option, value);
        return 0;
    }
}

// Reports an unknown option, which is a letter of a word of short options, or a
// whole word.
static int no_option(const struct Complaint *complaint, const char *word)
{
    const char letter[] = {'-', (char)optopt, '\0'};
    bool is_letter =
        optopt > 0 && optopt <= CHAR_MAX && !strchr(LETTERS, optopt);
    return object(complaint, "there is no option", is_letter ? letter : word);
}

// A recording to show.
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
    int option, error = 0;
    *options = (struct Options){.delay_s = 1,
                                .timeout_s = TIMEOUT_S,
                                .sort = COLUMN_SHARE,
                                .fail_above = NAN};
    opterr = 0;
    optind = 0; // makes getopt_long() start at the beginning again
    while (!error &&
           (option = getopt_long(argc, argv, LETTERS, longs, NULL)) != -1) {
        if (option == ':')
            return object(&complaint, "a value must follow", argv[optind - 1]);
        if (option == '?')
            return no_option(&complaint, argv[optind - 1]);
        error = take(options, option, optarg, &complaint);
    }
    if (!error)
        error = take_files(options, argc - optind, argv + optind, &complaint);
    if (!error && options->limit)
        error = take_limit(options, options->limit, &complaint);
    if (!error && options->replay && (options->record || options->pid))
        return object(&complaint,
                      "a recording goes with neither --record nor --pid", "");
    if (!error && !options->pid &&
        (options->attach || options->attach_only || options->detach))
        return object(&complaint, "--attach and --detach need --pid PID", "");
    if (!error && !options->before &&
        (options->diff || isfinite(options->fail_above)))
        return object(&complaint, "--diff compares two recordings", "");
    if (options->keys || options->width)
        options->batch = true;
    return error;
}
