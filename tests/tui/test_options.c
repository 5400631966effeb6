// SPDX-License-Identifier: MIT
// Tests tui/app/options: the options of a command line, and the messages about
// a wrong one.
#include "tui/app/options.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MOST 12

static char why[512];

// Parses the words of `line` as a command line.
static int parse(struct Options *options, const char *line)
{
    static char copy[512];
    char *words[MOST + 2] = {"ocular-top"};
    int count = 1;

    strncpy(copy, line, sizeof copy - 1);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        assert_true(count <= MOST);
        words[count++] = word;
    }
    *why = '\0';
    return Options_parse(options, count, words, why, sizeof why);
}

static void refuses(const char *line, const char *words)
{
    struct Options options;

    assert_int_equal(parse(&options, line), -EINVAL);
    assert_string_equal(why, words);
}

static void test_values_that_cannot_be(void **state)
{
    (void)state;
    refuses("-p 0", "--pid takes a process id, not \"0\"");
    refuses("-p 12x", "--pid takes a process id, not \"12x\"");
    refuses("-p 99999999999", "--pid takes a process id, not \"99999999999\"");
    refuses("-n -1", "--count takes a number above 0, not \"-1\"");
    refuses("-d 0.05", "--delay takes 0.1 to 60 seconds, not \"0.05\"");
    refuses("-d nan", "--delay takes 0.1 to 60 seconds, not \"nan\"");
    refuses("--timeout 0", "--timeout takes 0.1 to 86400 seconds, not \"0\"");
    refuses("--timeout inf",
            "--timeout takes 0.1 to 86400 seconds, not \"inf\"");
    refuses("--size 80", "--size takes WIDTHxHEIGHT, as 150x40, not \"80\"");
    refuses("--size 0x9", "--size takes WIDTHxHEIGHT, as 150x40, not \"0x9\"");
    refuses("--size 9x9x",
            "--size takes WIDTHxHEIGHT, as 150x40, not \"9x9x\"");
    refuses("--keys j<Nothing>",
            "--keys takes keys and names in <>, as "
            "\"jj<Enter>\" (<lt> is <), not \"<Nothing>\"");
    refuses("--sort \x1b[2J",
            "--sort takes one of share trend run% total% c% wait% "
            "calls/s calls avg min p50 p99 self total waited "
            "state sites spec function file, not \"\xef\xbf\xbd[2J\"");
}

static void test_options_that_cannot_be(void **state)
{
    (void)state;
    refuses("--nosuch", "there is no option --nosuch");
    refuses("-z", "there is no option -z");
    refuses("-zz", "there is no option -z");
    refuses("--once -Cz", "there is no option -z");
    refuses("--once=3", "there is no option --once=3");
    refuses("--help=3", "there is no option --help=3");
    refuses("--pid", "a value must follow --pid");
    refuses("-n", "a value must follow -n");
    refuses("4711", "options only: --pid PID names a process, not \"4711\"");
    refuses("--replay a --pid 1",
            "--replay goes with neither --record nor --pid");
    refuses("--replay a --record b",
            "--replay goes with neither --record nor --pid");
    refuses("--detach --once", "--attach and --detach need --pid PID");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_that_cannot_be),
        cmocka_unit_test(test_options_that_cannot_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
