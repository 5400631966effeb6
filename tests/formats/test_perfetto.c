// SPDX-License-Identifier: MIT
// A timeline's file: its place, and the file if writing ends early. Tests
// in Python read its contents back (tests/python/test_formats.py,
// tests/e2e/test_trace_processor.py).
#include "formats/perfetto.h"
#include "tracer/timeline/mark.h"
#include "tracer/timeline/ring.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/ocular-perfetto-XXXXXX";
static char path[128];
static unsigned progress_calls;
static double progress_limit;
static uint64_t progress_bytes;

static bool name_of(void *context, uint32_t id, struct PerfettoName *name)
{
    static char text[64];

    (void)context;
    snprintf(text, sizeof text, "f%u", id);
    *name = (struct PerfettoName){text, "/src/a.py", id, 0xabc000 + id};
    return true;
}

// The first calls take so long that the next is due at once.
static bool on_progress(void *context, double done, uint64_t bytes)
{
    (void)context;
    if (progress_calls < 4)
        usleep(51000);
    assert_true(done >= 0 && done <= 1);
    assert_true(bytes >= progress_bytes);
    progress_bytes = bytes;
    progress_calls++;
    return done < progress_limit;
}

// --- A trace being made ---

struct Maker {
    struct Timeline *timeline;
    struct Ring *ring;
    uint64_t now;
    struct Track *track;
};

static struct Maker maker_of(size_t limit)
{
    return (struct Maker){Timeline_new(limit), Ring_new(NULL), 5000, NULL};
}

static void put(struct Maker *maker, enum EventKind kind, uint32_t id,
                unsigned level)
{
    maker->now += 1001;
    Ring_push(maker->ring, maker->now, kind, Event_call(id, level));
}

static void drain(struct Maker *maker)
{
    if (!maker->track)
        maker->track = Timeline_begin(maker->timeline, 0, 1, "");
    assert_true(Timeline_drain(maker->timeline, maker->track, maker->ring) >=
                0);
}

static struct PerfettoTrace trace_of(const struct TimelineView *view)
{
    return (struct PerfettoTrace){
        .view = view,
        .pid = 4242,
        .command = "python demo.py",
        .python = "3.13.0",
        .mode = "adaptive",
        .threshold = 500,
        .start_ticks = 5000,
        .start_unix_ns = 1700000000000000000u,
        .hz = 1e9,
        .overwrite = true,
        .name = name_of,
    };
}

static void release(struct Maker *maker)
{
    Timeline_free(maker->timeline);
    Ring_free(maker->ring);
}

static unsigned files_in_directory(void)
{
    DIR *dir = opendir(directory);
    unsigned count = 0;

    while (readdir(dir))
        count++;
    closedir(dir);
    return count - 2;
}

static struct Maker big(unsigned calls)
{
    struct Maker maker = maker_of(256 << 20);
    unsigned i;

    put(&maker, EVENT_ENTER, 1, 0);
    for (i = 0; i < calls; i++) {
        put(&maker, EVENT_ENTER, 2 + i % 300, 1);
        put(&maker, EVENT_LEAVE, 2 + i % 300, 1);
        if (i % 20000 == 0)
            drain(&maker);
    }
    drain(&maker);
    return maker;
}

static void cancelled_half_way(void **state)
{
    struct Maker maker = big(100000);
    struct TimelineView *view = Timeline_freeze(maker.timeline);
    struct PerfettoTrace trace = trace_of(view);
    struct PerfettoResult result;
    struct stat before, after;
    unsigned files;

    (void)state;
    assert_int_equal(Perfetto_write(&trace, path, &result), 0);
    files = files_in_directory();
    trace.progress = on_progress;
    progress_calls = 0;
    progress_bytes = 0;
    progress_limit = 0.001;
    stat(path, &before);
    assert_int_equal(Perfetto_write(&trace, path, &result), -ECANCELED);
    stat(path, &after);
    assert_int_equal(before.st_ino, after.st_ino); // the older file stays
    assert_int_equal(files_in_directory(), files);
    assert_true(progress_calls > 1);
    progress_limit = 2;
    progress_calls = progress_bytes = 0;
    assert_int_equal(Perfetto_write(&trace, path, &result), 0);
    assert_true(progress_calls >= 4 && progress_bytes < result.bytes);
    TimelineView_free(view);
    release(&maker);
}

static void a_full_disk_is_reported(void **state)
{
    const struct rlimit small = {100000, RLIM_INFINITY};
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    struct Maker maker = big(20000);
    struct TimelineView *view = Timeline_freeze(maker.timeline);
    struct PerfettoTrace trace = trace_of(view);
    struct PerfettoResult result;
    unsigned files = files_in_directory();
    unsigned i;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    for (i = 0; i < 2; i++) {
        char other[160];

        snprintf(other, sizeof other, "%s/full.json%s", directory,
                 i ? ".gz" : "");
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        assert_int_equal(Perfetto_write(&trace, other, &result), -EFBIG);
        setrlimit(RLIMIT_FSIZE, &none);
        assert_int_equal(files_in_directory(), files);
    }
    TimelineView_free(view);
    release(&maker);
}

// --- Where it is written ---

// An empty timeline: what is in it does not matter here.
static struct {
    struct Maker maker;
    struct TimelineView *view;
    struct PerfettoTrace trace;
} frozen;

static int freeze(void **state)
{
    (void)state;
    frozen.maker = maker_of(1 << 20);
    frozen.view = Timeline_freeze(frozen.maker.timeline);
    if (!frozen.view)
        return -1;
    frozen.trace = trace_of(frozen.view);
    return 0;
}

static int thaw(void **state)
{
    (void)state;
    TimelineView_free(frozen.view);
    release(&frozen.maker);
    return 0;
}

static bool progress_takes_the_name(void *context, double done, uint64_t bytes)
{
    FILE *other = fopen(context, "w");

    (void)done, (void)bytes;
    assert_non_null(other);
    fputs("another one's", other);
    fclose(other);
    return true;
}

// Which was not there when it began.
static void what_another_has_written_stays(void **state)
{
    struct PerfettoTrace trace = frozen.trace;
    struct PerfettoResult result;
    char text[64] = "", place[300];
    struct dirent *entry;
    FILE *file;
    DIR *all;

    (void)state;
    snprintf(place, sizeof place, "%s/taken.json", directory);
    trace.overwrite = false;
    trace.context = place;
    trace.progress = progress_takes_the_name;
    assert_int_equal(Perfetto_write(&trace, place, &result), -EEXIST);
    file = fopen(place, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "another one's");
    unlink(place);
    all = opendir(directory); // and nothing is left beside it
    assert_non_null(all);
    while ((entry = readdir(all)) != NULL)
        assert_null(strstr(entry->d_name, ".tmp"));
    closedir(all);
}

static bool progress_goes_away(void *context, double done, uint64_t bytes)
{
    (void)context, (void)done, (void)bytes;
    return chdir("/") == 0;
}

static void a_change_of_directory_meanwhile(void **state)
{
    struct PerfettoTrace trace = frozen.trace;
    struct PerfettoResult result;
    char place[300];

    (void)state;
    assert_int_equal(chdir(directory), 0);
    trace.progress = progress_goes_away;
    assert_int_equal(Perfetto_write(&trace, "moved.json", &result), 0);
    snprintf(place, sizeof place, "%s/moved.json", directory);
    assert_int_equal(unlink(place), 0);
}

// To a file that is there, and to one that is not yet.
static void links_are_followed(void **state)
{
    struct PerfettoTrace trace = frozen.trace;
    struct PerfettoResult result;
    char name[300], place[300];
    struct stat status;
    int turn;

    (void)state;
    snprintf(name, sizeof name, "%s/link.json", directory);
    snprintf(place, sizeof place, "%s/there", directory);
    assert_int_equal(mkdir(place, 0700), 0);
    assert_int_equal(symlink("there/first", name), 0);
    snprintf(place, sizeof place, "%s/there/first", directory);
    assert_int_equal(symlink("second.json", place), 0);
    snprintf(place, sizeof place, "%s/there/second.json", directory);
    for (turn = 0; turn < 2; turn++) {
        assert_int_equal(Perfetto_write(&trace, name, &result), 0);
        assert_int_equal(lstat(name, &status), 0);
        assert_true(S_ISLNK(status.st_mode));
        assert_int_equal(lstat(place, &status), 0);
        assert_int_equal(status.st_size, result.bytes);
        assert_true(S_ISREG(status.st_mode));
    }
    unlink(name);
    assert_int_equal(symlink("link.json", name), 0); // to itself
    assert_int_equal(Perfetto_write(&trace, name, &result), -ELOOP);
    unlink(name), unlink(place);
    snprintf(place, sizeof place, "%s/there/first", directory);
    unlink(place);
    snprintf(place, sizeof place, "%s/there", directory);
    assert_int_equal(rmdir(place), 0);
}

static void places_that_are_refused(void **state)
{
    struct PerfettoTrace trace = frozen.trace;
    struct PerfettoResult result;
    char place[300];

    (void)state;
    assert_int_equal(Perfetto_write(&trace, directory, &result), -EISDIR);
    // As a device would be; one of our own, should it be replaced after all.
    snprintf(place, sizeof place, "%s/pipe", directory);
    assert_int_equal(mkfifo(place, 0600), 0);
    assert_int_equal(Perfetto_write(&trace, place, &result), -EINVAL);
    unlink(place);
    snprintf(place, sizeof place, "%s/none/a.json", directory);
    assert_int_equal(Perfetto_write(&trace, place, &result), -ENOENT);
    assert_int_equal(Perfetto_write(&trace, path, &result), 0);
    snprintf(place, sizeof place, "%s/a.json", path); // below a file
    assert_int_equal(Perfetto_write(&trace, place, &result), -ENOTDIR);
    // A name as long as may be, and one without a directory.
    snprintf(place, sizeof place, "%s/%0250d.json", directory, 0);
    assert_int_equal(Perfetto_write(&trace, place, &result), 0);
    unlink(place);
    assert_int_equal(chdir(directory), 0);
    assert_int_equal(Perfetto_write(&trace, "here.json", &result), 0);
    assert_int_equal(unlink("here.json"), 0);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/trace.json", directory);
    return 0;
}

static int tear_down(void **state)
{
    char name[160];

    (void)state;
    unlink(path);
    snprintf(name, sizeof name, "%s.gz", path);
    unlink(name);
    return rmdir(directory); // nothing else is left there
}

#define FROZEN(test) cmocka_unit_test_setup_teardown(test, freeze, thaw)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancelled_half_way),
        cmocka_unit_test(a_full_disk_is_reported),
        FROZEN(what_another_has_written_stays),
        FROZEN(a_change_of_directory_meanwhile),
        FROZEN(links_are_followed),
        FROZEN(places_that_are_refused),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
