// SPDX-License-Identifier: MIT
// Tests the reading of source files. The traced process names the file, so the
// viewer must not trust the name. The viewer reads only regular files, and
// refuses a file that is too new or too large with a message. Hostile lines
// become harmless.
#include "tui/model/source.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN_MAIN
#include "tests/unit.h"

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
    Source_load(&source, &(struct SourceRequest){.pid = getpid(),
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

TEST(test_lines_end_where_python_ends_them)
{
    static const char text[] = "one\r\ntwo\rthree\n\nfive\0!\n";
    struct Source source;
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

TEST(test_what_is_not_there)
{
    expect(path_of("missing.py"), NAN, SOURCE_MISSING,
           "missing.py is not there");
    expect("/no/such/folder/x.py", NAN, SOURCE_MISSING, "is not there");
    expect("", NAN, SOURCE_NONE, "no source file");
    expect("<string>", NAN, SOURCE_NONE, "made at run time (<string>)");
    expect("<frozen runpy>", NAN, SOURCE_NONE, "built into the interpreter");
    expect("<stdin\x1b[31m>", NAN, SOURCE_NONE, "\xef\xbf\xbd[31m>");
}

// The viewer must not wake the writer of a pipe, and must not touch a device.
TEST(test_what_is_no_regular_file)
{
    assert_int_equal(mkfifo(path_of("pipe.py"), 0600), 0);
    assert_int_equal(symlink("pipe.py", path_of("link.py")), 0);
    assert_int_equal(symlink("loop.py", path_of("loop.py")), 0);
    alarm(20); // The test fails if reading the pipe waits.
    expect(path_of("pipe.py"), NAN, SOURCE_REFUSED, "is no regular file");
    expect(path_of("link.py"), NAN, SOURCE_REFUSED, "is no regular file");
    expect(path_of("loop.py"), NAN, SOURCE_REFUSED, "leads nowhere");
    expect("/dev/zero", NAN, SOURCE_REFUSED, "is no regular file");
    expect(folder, NAN, SOURCE_REFUSED, "is no regular file");
    // The viewer has not opened the pipe, so the pipe has no reader.
    assert_int_equal(open(path_of("pipe.py"), O_WRONLY | O_NONBLOCK), -1);
    alarm(0);
}

TEST(test_what_is_too_large)
{
    write_file("large.py", "", 0);
    assert_int_equal(truncate(path_of("large.py"), SOURCE_BYTES + 1), 0);
    expect(path_of("large.py"), NAN, SOURCE_REFUSED, "larger than 8 MiB");
    // Files in /proc have size 0, but have content.
    struct Source source = load("/proc/self/status", NAN);
    assert_true(source.line_count <= 1);
    Source_release(&source);
}

TEST(test_a_change_while_it_is_looked_at)
{
    struct SourceRequest request = {.file = path_of("alive.py"),
                                    .process_start_s = NAN};
    char path[300];
    struct Source source;
    snprintf(path, sizeof path, "%s", request.file);
    request.file = path;
    Source_load(&source, &request);
    assert_int_equal(source.state, SOURCE_MISSING);
    assert_false(Source_is_stale(&source, &request));
    write_file("alive.py", "x\n", 2);
    assert_true(Source_is_stale(&source, &request));
    Source_release(&source);
    Source_load(&source, &request);
    assert_false(Source_is_stale(&source, &request));
    write_file("alive.py", "xy\n", 3);
    assert_true(Source_is_stale(&source, &request));
    unlink(path);
    assert_true(Source_is_stale(&source, &request));
    Source_release(&source);
}

// The process has another root directory, at which its paths begin.
TEST(test_a_relative_path_below_another_root)
{
    struct Source source;
    int ready[2];
    char byte;
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
        Source_load(&source, &(struct SourceRequest){.pid = child,
                                                     .file = "main.py",
                                                     .process_start_s = NAN});
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (byte != 'y')
        skip(); // Only root may call chroot().
    assert_int_equal(source.state, SOURCE_FINE);
    Source_release(&source);
}

static void check_expanded(const char *line, const char *expected)
{
    char out[200];
    Source_expand(out, sizeof out, line);
    assert_string_equal(out, expected);
}

TEST(test_tabs)
{
    char out[12], *line = malloc(20001);
    check_expanded("\tx", "        x");
    check_expanded("ab\tc\td", "ab      c       d");
    check_expanded("", "");
    // The glyph in this line is two cells wide.
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

static void clean_up(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    return Unit_run(NULL, clean_up);
}
