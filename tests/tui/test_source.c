// SPDX-License-Identifier: MIT
// The traced process names the source file, so the name is not trusted: only
// regular files are read, a file that is too new or too large is refused with a
// message, and hostile lines become harmless.
#include "tui/model/source.h"

#include "tui/text/text.h"

#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/ocular-source-XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[4][300];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *data, size_t size)
{
    FILE *file = fopen(path_of(name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

static struct Source load(const char *file, double start)
{
    struct Source source;
    Source_load(&source, &(struct SourceWish){.pid = getpid(),
                                              .file = file,
                                              .process_start_s = start});
    return source;
}

static void expect(const char *file, double start, enum SourceState state,
                   const char *why)
{
    struct Source source = load(file, start);
    if (source.state != state || !strstr(source.why, why))
        fail_msg("%s: state %d, \"%s\"", file, source.state, source.why);
    assert_int_equal(source.line_count > 0, state == SOURCE_FINE);
    Source_release(&source);
}

static void test_lines_end_where_python_ends_them(void **state)
{
    static const char text[] = "one\r\ntwo\rthree\n\nfive\0!\n";
    struct Source source;
    (void)state;
    write_file("lines.py", text, sizeof text - 1);
    source = load(path_of("lines.py"), NAN);
    assert_int_equal(source.state, SOURCE_FINE);
    assert_int_equal(source.line_count, 5);
    assert_string_equal(Source_line(&source, 1), "one");
    assert_string_equal(Source_line(&source, 2), "two");
    assert_string_equal(Source_line(&source, 3), "three");
    assert_string_equal(Source_line(&source, 4), "");
    assert_string_equal(Source_line(&source, 5), "five\1!");
    assert_null(Source_line(&source, 0));
    assert_null(Source_line(&source, 6));
    assert_null(Source_line(&source, UINT64_MAX));
    Source_release(&source);
    write_file("end.py", "no newline", 10);
    source = load(path_of("end.py"), NAN);
    assert_int_equal(source.line_count, 1);
    assert_string_equal(Source_line(&source, 1), "no newline");
    Source_release(&source);
}

static void test_what_is_not_there(void **state)
{
    (void)state;
    expect(path_of("missing.py"), NAN, SOURCE_MISSING,
           "missing.py is not there");
    expect("/no/such/folder/x.py", NAN, SOURCE_MISSING, "is not there");
    expect("", NAN, SOURCE_NONE, "no source file");
    expect("<string>", NAN, SOURCE_NONE, "made at run time (<string>)");
    expect("<frozen runpy>", NAN, SOURCE_NONE, "built into the interpreter");
    expect("<stdin\x1b[31m>", NAN, SOURCE_NONE, "\xef\xbf\xbd[31m>");
}

// Reading must not wake the writer of a pipe, and must not touch a device.
static void test_what_is_no_regular_file(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(path_of("pipe.py"), 0600), 0);
    assert_int_equal(symlink("pipe.py", path_of("link.py")), 0);
    assert_int_equal(symlink("loop.py", path_of("loop.py")), 0);
    alarm(20); // fails if reading waits
    expect(path_of("pipe.py"), NAN, SOURCE_REFUSED, "is no regular file");
    expect(path_of("link.py"), NAN, SOURCE_REFUSED, "is no regular file");
    expect(path_of("loop.py"), NAN, SOURCE_REFUSED, "leads nowhere");
    expect("/dev/zero", NAN, SOURCE_REFUSED, "is no regular file");
    expect(folder, NAN, SOURCE_REFUSED, "is no regular file");
    // The pipe has no reader, so a writer cannot open it.
    assert_int_equal(open(path_of("pipe.py"), O_WRONLY | O_NONBLOCK), -1);
    alarm(0);
}

static void test_what_is_too_large(void **state)
{
    (void)state;
    write_file("large.py", "", 0);
    assert_int_equal(truncate(path_of("large.py"), SOURCE_BYTES + 1), 0);
    expect(path_of("large.py"), NAN, SOURCE_REFUSED, "larger than 8 MiB");
    // Files in /proc have size 0, but have content.
    struct Source source = load("/proc/self/status", NAN);
    assert_true(source.line_count <= 1);
    Source_release(&source);
}

static void test_what_has_changed(void **state)
{
    struct timespec now;
    struct timespec times[2] = {{1000000, 0}, {1000000, 0}};
    (void)state;
    clock_gettime(CLOCK_REALTIME, &now);
    write_file("new.py", "x = 1\n", 6);
    expect(path_of("new.py"), (double)now.tv_sec - 100, SOURCE_CHANGED,
           "new.py has changed since the process started");
    expect(path_of("new.py"), (double)now.tv_sec + 100, SOURCE_FINE, "");
    expect(path_of("new.py"), NAN, SOURCE_FINE, ""); // the start is not known
    utimensat(AT_FDCWD, path_of("new.py"), times, 0);
    // The file's date is old again, but its inode has changed since then.
    expect(path_of("new.py"), 1000000.5, SOURCE_FINE,
           "new.py was replaced or touched after the process started");
    expect(path_of("new.py"), (double)now.tv_sec + 100, SOURCE_FINE, "");
    expect(path_of("new.py"), 999990, SOURCE_CHANGED, "");
}

static void test_a_change_while_it_is_looked_at(void **state)
{
    struct SourceWish wish = {.file = path_of("alive.py"),
                              .process_start_s = NAN};
    char path[300];
    struct Source source;
    (void)state;
    snprintf(path, sizeof path, "%s", wish.file);
    wish.file = path;
    Source_load(&source, &wish);
    assert_int_equal(source.state, SOURCE_MISSING);
    assert_false(Source_is_stale(&source, &wish));
    write_file("alive.py", "x\n", 2);
    assert_true(Source_is_stale(&source, &wish));
    Source_release(&source);
    Source_load(&source, &wish);
    assert_false(Source_is_stale(&source, &wish));
    write_file("alive.py", "xy\n", 3);
    assert_true(Source_is_stale(&source, &wish));
    unlink(path);
    assert_true(Source_is_stale(&source, &wish));
    Source_release(&source);
}

// The path is relative to the process's working directory.
static void test_a_relative_path(void **state)
{
    char before[1000];
    (void)state;
    assert_non_null(getcwd(before, sizeof before));
    write_file("here.py", "x\n", 2);
    assert_int_equal(chdir(folder), 0);
    expect("here.py", NAN, SOURCE_FINE, "");
    expect("../nowhere/here.py", NAN, SOURCE_MISSING, "is not there");
    assert_int_equal(chdir(before), 0);
    expect("here.py", NAN, SOURCE_MISSING, "is not there");
}

// The process has another root directory, from which its paths begin.
static void test_a_relative_path_below_another_root(void **state)
{
    struct Source source;
    int ready[2];
    char byte;
    (void)state;
    mkdir(path_of("root"), 0755);
    mkdir(path_of("root/app"), 0755);
    write_file("root/app/main.py", "x\n", 2);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool there = chroot(path_of("root")) == 0 && chdir("/app") == 0;
        if (write(ready[1], there ? "y" : "n", 1) == 1)
            pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    if (byte == 'y')
        Source_load(&source, &(struct SourceWish){.pid = child,
                                                  .file = "main.py",
                                                  .process_start_s = NAN});
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (byte != 'y')
        skip(); // only root may call chroot()
    assert_int_equal(source.state, SOURCE_FINE);
    Source_release(&source);
}

static void check_expanded(const char *line, const char *expected)
{
    char out[200];
    Source_expand(out, sizeof out, line);
    assert_string_equal(out, expected);
}

static void test_tabs(void **state)
{
    char out[12], *line = malloc(20001);
    (void)state;
    check_expanded("\tx", "        x");
    check_expanded("ab\tc\td", "ab      c       d");
    check_expanded("", "");
    // the glyph has two cells
    check_expanded("\xe4\xb8\xad\tx", "\xe4\xb8\xad      x");
    memset(line, '\t', 20000);
    line[20000] = 0;
    Source_expand(out, sizeof out, line);
    assert_true(strlen(out) < sizeof out);
    memset(line, 'x', 20000);
    Source_expand(out, sizeof out, line);
    assert_true(strlen(out) < sizeof out);
    memset(line, '\xe4', 20000);
    Source_expand(out, sizeof out, line);
    assert_true(strlen(out) < sizeof out);
    free(line);
}

static int clean_up(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_end_where_python_ends_them),
        cmocka_unit_test(test_what_is_not_there),
        cmocka_unit_test(test_what_is_no_regular_file),
        cmocka_unit_test(test_what_is_too_large),
        cmocka_unit_test(test_what_has_changed),
        cmocka_unit_test(test_a_change_while_it_is_looked_at),
        cmocka_unit_test(test_a_relative_path),
        cmocka_unit_test(test_a_relative_path_below_another_root),
        cmocka_unit_test(test_tabs),
    };
    setlocale(LC_CTYPE, "C.UTF-8");
    if (!mkdtemp(folder))
        return 1;
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
