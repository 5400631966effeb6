// SPDX-License-Identifier: MIT
// Tests tracer/timeline/export, which writes the files that the program itself
// asks for.
#include "tracer/timeline/export.h"

#include "formats/conversion.h"
#include "tests/formats/frozen.h"
#include "tests/tracer/make_engine.h"
#include "tracer/session/collect.h"
#include "tracer/session/costs.h"
#include "tracer/session/exports.h"
#include "tracer/session/recorder.h"
#include "tracer/timeline/output_name.h"

#include <errno.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#define OWN_MAIN
#include "tests/unit.h"

struct Fixture {
    struct Engine engine;
    struct Session session;
    struct Export *export;
    struct ThreadTrace *trace;
    char directory[64];
};

static void pause_us(long us)
{
    struct timespec time = {us / 1000000, us % 1000000 * 1000};

    nanosleep(&time, NULL);
}

static void path_in(struct Fixture *f, char path[PATH_MAX], const char *name)
{
    snprintf(path, PATH_MAX, "%s/%s", f->directory, name);
}

// Returns the whole file as text, which the caller frees.
static char *contents(const char *path)
{
    char *text = calloc(1, 1 << 24);
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 24) - 1, file) > 0);
    fclose(file);
    return text;
}

// Records `calls` calls, and drains their events from time to time.
static void record(struct Fixture *f, struct Code *code, unsigned calls)
{
    uint64_t ticks = Clock_read(&f->engine.clock);

    for (unsigned i = 0; i < calls; i++) {
        call(f->trace, code, ticks + 10 * i);
        if (i % 10000 == 9999)
            Collect_drain(&f->session);
    }
}

// --- Exports on the caller's thread -----------------------------------------

static int set_up(void **state), tear_down(void **state);

TEST_WITH(test_a_failure_does_not_block_the_next, set_up, tear_down)
{
    struct Fixture *f = *state;
    struct PerfettoResult result;
    char path[PATH_MAX];

    path_in(f, path, "no/such/directory.json");
    assert_int_equal(Export_write(f->export, path, true, NULL, 0, &result),
                     -ENOENT);
    path_in(f, path, "page.html"); // Only Python writes an HTML page.
    assert_int_equal(Export_write(f->export, path, true, NULL, 0, &result),
                     -EINVAL);
    path_in(f, path, "trace.json");
    assert_int_equal(Export_write(f->export, path, true, NULL, 0, &result), 0);
}

// The progress that a watcher gets, and the number of reports after which the
// watcher cancels the export.
struct Watching {
    unsigned reports, most;
    double done;
    uint64_t bytes;
};

struct Race {
    struct Fixture *fixture;
    _Atomic bool stop;
    _Atomic uint32_t made;
};

// Calls functions once and retires them. No more functions are retired than
// names of retired functions can be kept.
static void *churn(void *context)
{
    struct Race *race = context;
    struct Fixture *f = race->fixture;

    while (!race->stop && race->made < NAMES_ROOM) {
        struct Code *code = add_code(&f->engine, "short_lived", 0);

        call(f->trace, code, Clock_read(&f->engine.clock));
        Engine_retire(&f->engine, code);
        race->made++;
        sched_yield();
    }
    return NULL;
}

TEST_WITH(test_names_while_code_goes, set_up, tear_down)
{
    struct Fixture *f = *state;
    struct Race race = {.fixture = f};
    struct PerfettoResult result;
    char path[PATH_MAX], *text;
    pthread_t thread;

    path_in(f, path, "trace.json");
    Collector_start(&f->session.collector);
    pthread_create(&thread, NULL, churn, &race);
    for (int i = 0; i < 5; i++) {
        for (uint32_t before = race.made;
             race.made < before + 10 && race.made < NAMES_ROOM;)
            pause_us(1000);
        assert_int_equal(Export_write(f->export, path, true, NULL, 0, &result),
                         0);
        text = contents(path);
        assert_non_null(strstr(text, "short_lived"));
        assert_null(strstr(text, "<retired>"));
        free(text);
    }
    race.stop = true;
    pthread_join(thread, NULL);
    Collector_stop(&f->session.collector);
}

// There are names of more functions than a recording in memory has room for.
TEST_WITH(test_many_names, set_up, tear_down)
{
    struct Fixture *f = *state;
    struct Code *active = add_code(&f->engine, "active", 0);
    struct PerfettoResult result;
    char path[PATH_MAX], name[200], *text;

    path_in(f, path, "trace.json");
    record(f, active, 10);
    Collect_drain(&f->session);
    Recorder_turn(&f->session); // Writes the name of `active`.
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    // The cut writes the names of these functions.
    for (int i = 0; i < 20000; i++)
        add_code(&f->engine, name, 0)->cold.dark_since = 1;
    assert_int_equal(Export_write(f->export, path, true, NULL, 0, &result), 0);
    text = contents(path);
    assert_non_null(strstr(text, "active"));
    assert_null(strstr(text, "<retired>"));
    free(text);
}

// --- Fixture -----------------------------------------------------------------

static int set_up(void **state)
{
    struct Fixture *f = calloc(1, sizeof *f);

    snprintf(f->directory, sizeof f->directory, "/tmp/ocular-export-XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    make_engine(&f->engine);
    f->session.engine = &f->engine;
    f->session.timeline = Frozen_timeline(64 << 20);
    f->session.start_ticks = Clock_read(&f->engine.clock);
    snprintf(f->session.config.mode, sizeof f->session.config.mode, "adaptive");
    Collect_init(&f->session);
    Costs_init(&f->session);
    f->export = &f->session.export;
    Exports_init(&f->session);
    f->trace = add_trace(&f->engine, true);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct Fixture *f = *state;
    char command[128];

    Export_release(f->export);
    Timeline_free(f->session.timeline);
    Roll_release(&f->session.roll);
    Retired_release(&f->session.retired);
    Engine_release(&f->engine);
    snprintf(command, sizeof command, "rm -r %s", f->directory);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

static int use_formats(void **state)
{
    (void)state;
    Formats_use(&Conversion_formats);
    return 0;
}

int main(void)
{
    return Unit_run(use_formats, NULL);
}
