// SPDX-License-Identifier: MIT
// Tests where the file of a timeline is written, and which files are left if
// writing ends early. Tests in Python check the contents of the file
// (tests/python/test_formats.py, tests/e2e/test_trace_processor.py).
#include "formats/perfetto.h"
#include "tests/formats/frozen.h"
#include "tracer/timeline/ring.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_MAIN
#include "tests/unit.h"

static char directory[] = "/tmp/ocular-perfetto-XXXXXX";
static char path[128];
static bool name_of(void *context, uint32_t id, struct PerfettoName *name)
{
    static char text[64];

    (void)context;
    snprintf(text, sizeof text, "f%u", id);
    *name = (struct PerfettoName){text, "/src/a.py", id, 0xabc000 + id};
    return true;
}

struct Maker {
    struct Timeline *timeline;
    struct Ring *ring;
    uint64_t now;
    struct Track *track;
};

static struct Maker maker_of(size_t limit)
{
    return (struct Maker){Frozen_timeline(limit), Ring_new(NULL), 5000, NULL};
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
        .name = name_of,
    };
}

static int write_to(const struct PerfettoTrace *trace, const char *name,
                    struct PerfettoResult *result)
{
    const struct FormatsFile file = {.path = name, .overwrite = true};

    return Perfetto_write(trace, &file, result);
}

static void release(struct Maker *maker)
{
    Timeline_free(maker->timeline);
    Ring_free(maker->ring);
}

// The timeline of these tests has no events, because the content does not
// matter here.
static struct {
    struct Maker maker;
    struct RecordingReader reader;
    struct PerfettoTrace trace;
} frozen;

static void freeze(void)
{
    frozen.maker = maker_of(1 << 20);
    frozen.trace = trace_of(Frozen_view(frozen.maker.timeline, &frozen.reader));
}

static void thaw(void)
{
    RecordingReader_close(&frozen.reader);
    release(&frozen.maker);
}

static bool progress_goes_away(void *context, double done, uint64_t bytes)
{
    (void)context, (void)done, (void)bytes;
    return chdir("/") == 0;
}

TEST_WITH(a_change_of_directory_meanwhile, freeze, thaw)
{
    struct PerfettoTrace trace = frozen.trace;
    struct PerfettoResult result;
    char place[300];

    assert_int_equal(chdir(directory), 0);
    trace.progress = progress_goes_away;
    assert_int_equal(write_to(&trace, "moved.json", &result), 0);
    snprintf(place, sizeof place, "%s/moved.json", directory);
    assert_int_equal(unlink(place), 0);
}

// The links lead to a file that exists, and to a file that does not exist yet.
TEST_WITH(links_are_followed, freeze, thaw)
{
    struct PerfettoTrace trace = frozen.trace;
    struct PerfettoResult result;
    char name[300], place[300];
    struct stat status;
    int turn;

    snprintf(name, sizeof name, "%s/link.json", directory);
    snprintf(place, sizeof place, "%s/there", directory);
    assert_int_equal(mkdir(place, 0700), 0);
    assert_int_equal(symlink("there/first", name), 0);
    snprintf(place, sizeof place, "%s/there/first", directory);
    assert_int_equal(symlink("second.json", place), 0);
    snprintf(place, sizeof place, "%s/there/second.json", directory);
    for (turn = 0; turn < 2; turn++) {
        assert_int_equal(write_to(&trace, name, &result), 0);
        assert_int_equal(lstat(name, &status), 0);
        assert_true(S_ISLNK(status.st_mode));
        assert_int_equal(lstat(place, &status), 0);
        assert_int_equal(status.st_size, result.bytes);
        assert_true(S_ISREG(status.st_mode));
    }
    unlink(name);
    // This link leads to itself.
    assert_int_equal(symlink("link.json", name), 0);
    assert_int_equal(write_to(&trace, name, &result), -ELOOP);
    unlink(name), unlink(place);
    snprintf(place, sizeof place, "%s/there/first", directory);
    unlink(place);
    snprintf(place, sizeof place, "%s/there", directory);
    assert_int_equal(rmdir(place), 0);
}

static void set_up(void)
{
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/trace.json", directory);
}

static void tear_down(void)
{
    char name[160];

    unlink(path);
    snprintf(name, sizeof name, "%s.gz", path);
    unlink(name);
    // rmdir() fails if another file is left in the folder.
    assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
    return Unit_run(set_up, tear_down);
}
