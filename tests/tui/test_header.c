// SPDX-License-Identifier: MIT
// Tests the text and the style of the lines at the top, which tui/views/header
// draws.
#include "tui/views/header.h"
#include "tui/views/header_cost.h"
#include "tui/views/header_whole.h"

#include "tests/tui/sample.h"

#include <string.h>

#include "tests/unit.h"

#include "tests/tui/picture.h"

#define HEIGHT 3

struct Fixture {
    struct Model model;
    struct Canvas canvas;
    const char *text;
    double past_s; // Seconds of a recorded run; 0 for a live process.
};

// Draws the header for a snapshot.
static void draw(struct Fixture *f, struct Snapshot *snapshot, int width)
{
    struct Status status = {.version = "0.1.0",
                            .rate_s = 1,
                            .past = f->past_s > 0,
                            .to_s = f->past_s,
                            .all_s = f->past_s};

    assert_int_equal(Model_push(&f->model, snapshot), 0);
    Canvas_resize(&f->canvas, width, HEIGHT);
    Header_draw(&f->canvas, &f->model, &status);
    HeaderCost_draw(&f->canvas, &f->model);
    HeaderWhole_draw(&f->canvas, &f->model, &status);
    f->text = picture_of(&f->canvas);
}

static bool says(const struct Fixture *f, const char *words)
{
    return strstr(f->text, words) != NULL;
}

// Returns the style of the first cell of an ASCII text in line y.
static enum Style style_of(const struct Fixture *f, int y, const char *words)
{
    for (int x = 0; x < f->canvas.width; x++) {
        size_t i = 0;
        while (words[i] && Canvas_cell(&f->canvas, y, x + (int)i) &&
               Canvas_cell(&f->canvas, y, x + (int)i)->code ==
                   (unsigned char)words[i])
            i++;
        if (!words[i])
            return Canvas_cell(&f->canvas, y, x)->style;
    }
    fail_msg("\"%s\" is not in\n%s", words, f->text);
    return STYLE_PLAIN;
}

static int count_cells(const struct Fixture *f, uint32_t code, enum Style style)
{
    int count = 0;

    for (int x = 0; x < f->canvas.width; x++) {
        const struct Cell *cell = Canvas_cell(&f->canvas, 1, x);

        count += cell->code == code && cell->style == style;
    }
    return count;
}

#define FULL 0x2588 // the full block (a character of the bar)

// Returns a snapshot with these overheads, which are shares of one core.
static struct Snapshot *costing(double measured, double allowed)
{
    struct Snapshot *snapshot = Sample_new((struct SampleSpec){0});

    snapshot->overhead_measured = 2 * measured;
    snapshot->overhead_cores = measured;
    snapshot->overhead_cores_allowed = allowed;
    return snapshot;
}

// An older process reports the overhead as a share of its own CPU time, and
// perhaps without the allowed overhead.
static struct Snapshot *costing_an_older(double measured, double allowed)
{
    struct Snapshot *snapshot = costing(NULL_F64, NULL_F64);

    snapshot->overhead_measured = measured;
    snapshot->overhead_allowed = allowed;
    return snapshot;
}

TEST_FIXTURE(test_totals_are_older_than_a_killed_program)
{
    struct Snapshot *snapshot = Sample_new((struct SampleSpec){0});

    f->past_s = 16.4;
    snapshot->totals_s = 12;
    draw(f, Snapshot_hold(snapshot), 200);
    assert_true(says(f, "the whole run, 16.4 s"));
    assert_true(says(f, "totals of second 12"));
    snapshot->totals_s = 16.3;
    draw(f, snapshot, 200);
    assert_false(says(f, "totals"));
}

TEST_FIXTURE(test_overhead_within_the_budget)
{
    draw(f, costing(.008, .01), 200);
    assert_int_equal(style_of(f, 1, "0.8%"), STYLE_ARMED);
    assert_true(says(f, "0.8% of a core, 1.0 allowed  "));
    assert_int_equal(count_cells(f, FULL, STYLE_ARMED), 8);
    draw(f, costing(.008, .01), 150); // The bar has 6 cells.
    assert_int_equal(count_cells(f, FULL, STYLE_ARMED), 5);
    draw(f, costing_an_older(.008, .02), 150);
    assert_true(says(f, "0.8% of its CPU time, 2.0 allowed  "));
    draw(f, costing_an_older(.008, NULL_F64), 150);
    assert_int_equal(style_of(f, 1, "0.8%"), STYLE_ARMED);
    assert_true(says(f, "0.8% of its CPU time, 1.0 allowed  "));
}

TEST_FIXTURE(test_overhead_beyond_the_budget)
{
    draw(f, costing(.02, .01), 200);
    assert_int_equal(style_of(f, 1, "2.0%"), STYLE_ALERT);
    assert_int_equal(count_cells(f, FULL, STYLE_ALERT), 10);
    draw(f, costing_an_older(.02, NULL_F64), 80);
    assert_int_equal(style_of(f, 1, "2.0%"), STYLE_ALERT);
    // The screen shows 1.0 % with 1.0 % allowed, so this is no alert.
    draw(f, costing(.0102, .01), 150);
    assert_int_equal(style_of(f, 1, "1.0%"), STYLE_ARMED);
}

TEST_FIXTURE(test_what_the_overhead_is_made_of)
{
    struct Snapshot *snapshot = costing(.0093, .01);

    snapshot->overhead_hooks = .0024;
    snapshot->overhead_rearm = .0054;
    snapshot->overhead_threads = .0108;
    draw(f, snapshot, 150);
    assert_true(says(f, "hooks 0.1 re-arm 0.3 threads 0.5"));
    // At the usual widths of terminals, the line has all items except these.
    for (int width = 80; width < 200; width++) {
        draw(f, Sample_new((struct SampleSpec){0}), width);
        assert_true(says(f, "0.6% of a core, 0.7 allowed"));
        assert_int_equal(says(f, "hooks 0.4 re-arm 0.1 threads 0.1"),
                         width >= 87);
        assert_true(says(f, width < 140 ? "● 5  ◐ 3  ○ 4"
                                        : "● 5 armed  ◐ 3 partial  ○ 4 dark"));
        // The line has room for the age of the oldest data only if it leaves
        // out the three parts of the overhead.
        if (width < 87 || width >= 150)
            assert_true(says(f, "oldest data"));
    }
    draw(f, Sample_new((struct SampleSpec){0}), 60);
    assert_false(says(f, "hooks"));
}

TEST_FIXTURE(test_what_shares_rest_on)
{
    struct Snapshot *snapshot = Sample_new((struct SampleSpec){0});

    snapshot->sampler_window_s = 30;
    snapshot->sampler_window_samples = 412;
    draw(f, snapshot, 150);
    assert_true(says(f, "over 30 s, 412 samples   by CPU timers, signal 35"));
    for (int width = 80; width < 200; width++) {
        draw(f, Sample_new((struct SampleSpec){0}), width);
        assert_true(says(f, "over 12 s, 1 212 samples"));
    }
    snapshot = Sample_new((struct SampleSpec){0});
    snapshot->sampler_untimed = 2;
    draw(f, snapshot, 150);
    assert_true(says(f, "by CPU timers, signal 35, 2 threads without"));
    snapshot = Sample_new((struct SampleSpec){0});
    snapshot->sampler_signal = NULL_U64;
    draw(f, snapshot, 100);
    assert_true(says(f, "by wall-clock samples"));
    assert_int_equal(style_of(f, 2, "by wall-clock"), STYLE_PARTIAL);
    // An older process does not report its window.
    snapshot = Sample_new((struct SampleSpec){0});
    snapshot->sampler_window_s = snapshot->sampler_window_samples = NAN;
    draw(f, snapshot, 150);
    assert_false(says(f, "samples"));
    draw(f, Sample_new((struct SampleSpec){.no_sampler = 1}), 150);
    assert_false(says(f, "by wall-clock"));
}

TEST_FIXTURE(test_the_pauses_of_the_garbage_collector)
{
    static const struct GarbageRow rows[3] = {
        {40, .02, .001}, {4, .03, .0124}, {NULL_U64, NULL_F64, NULL_F64}};

    for (int width = 80; width < 200; width++) {
        struct Snapshot *snapshot = Sample_new((struct SampleSpec){0});

        snapshot->gc_share = .012;
        snapshot->gc_generations = rows;
        snapshot->gc_generation_count = 3;
        draw(f, snapshot, width);
        assert_true(says(f, "gc 1.2%"));
        assert_true(says(f, "over 12 s, 1 212 samples"));
        assert_int_equal(says(f, "gc 1.2%, longest 12ms"), width >= 140);
    }
    draw(f, Sample_new((struct SampleSpec){0}), 150);
    assert_false(says(f, "gc "));
}

TEST_FIXTURE(test_a_recent_stall_is_in_the_header)
{
    static struct StallRow stall = {.seconds = 1.27};

    for (int width = 80; width < 200; width++) {
        struct Snapshot *snapshot = Sample_new((struct SampleSpec){0});

        draw(f, snapshot, width);
        assert_false(says(f, "stalled"));
        snapshot = Sample_new((struct SampleSpec){0});
        stall.at_s = snapshot->uptime_s - 10 - stall.seconds;
        stall.has_gil = width % 2;
        snapshot->stalls = &stall;
        snapshot->stall_count = 1;
        draw(f, snapshot, width);
        assert_true(says(f, width % 2 ? "GIL kept 1.3s 10s ago (L)"
                                      : "loop stalled 1.3s 10s ago (L)"));
    }
}

TEST_FIXTURE(test_the_gil)
{
    struct Snapshot *snapshot;

    for (int width = 80; width < 200; width++) {
        snapshot = Sample_new((struct SampleSpec){0});
        snapshot->gil_held = .97;
        snapshot->gil_waited = 2.3;
        draw(f, snapshot, width);
        assert_true(says(f, "GIL held 97.0%, waited 230%"));
        assert_true(says(f, "sort SHARE"));
    }
    snapshot = Sample_new((struct SampleSpec){0});
    snapshot->gil_held = .97; // Waits are unknown.
    draw(f, snapshot, 150);
    assert_true(says(f, "GIL held 97.0%") && !says(f, "waited"));
    draw(f, Sample_new((struct SampleSpec){0}), 150);
    assert_false(says(f, "GIL"));
}

TEST_FIXTURE(test_the_rules_of_the_filter)
{
    static const struct FilterRule exclude[] = {{"numpy"}, {"torch"}};
    static const struct FilterRule only[] = {{"srv"}};
    int width;

    for (width = 60; width < 200; width++) {
        struct Snapshot *snapshot = Sample_new((struct SampleSpec){0});

        snapshot->filter_exclude = exclude;
        snapshot->filter_exclude_count = 2;
        snapshot->filter_include_only = only;
        snapshot->filter_include_only_count = 1;
        draw(f, snapshot, width);
        assert_true(says(f, "ocular-top"));
        // A narrow screen leaves out the filter's rules before the threshold.
        if (says(f, "excluded "))
            assert_true(says(f, "threshold "));
    }
    assert_true(says(f, "excluded numpy, torch   only srv"));
    draw(f, Sample_new((struct SampleSpec){0}), 200);
    assert_false(says(f, "excluded ") || says(f, "only "));
}

TEST_FIXTURE(test_why_there_are_no_shares)
{
    draw(f, Sample_new((struct SampleSpec){.no_sampler = 1}), 150);
    assert_true(says(f, "shares are not sampled  "));
    draw(f, Sample_new((struct SampleSpec){.no_sampler = 1, .trouble = 1}),
         150);
    assert_true(says(f, "shares are not sampled: this process may not"));
    assert_int_equal(style_of(f, 2, ": this process"), STYLE_ALERT);
    draw(f, Sample_new((struct SampleSpec){.no_sampler = 1, .trouble = 1}), 60);
    assert_true(says(f, "shares are not sampled"));
}

static void set_up(struct Fixture *f)
{
    Model_init(&f->model);
    Canvas_init(&f->canvas, false);
}

static void tear_down(struct Fixture *f)
{
    Canvas_release(&f->canvas);
    Model_release(&f->model);
}

// The header shows the shares that are in no row, if they are large. If they
// are unknown, the header does not show them.
TEST_FIXTURE(test_what_the_rows_lack)
{
    struct Snapshot *snapshot = Sample_new((struct SampleSpec){0});
    static const struct RetiredRow gone[] = {
        {.run_share = .08}, {.run_share = NAN}, {.run_share = .04}};

    snapshot->sampler_samples = 1000;
    snapshot->sampler_unknown = 50;
    snapshot->sampler_truncated = 20;
    snapshot->sampler_elsewhere = .3;
    snapshot->retired = gone;
    snapshot->retired_count = 3;
    draw(f, snapshot, 240);
    assert_true(says(f, "unread 5.0%"));
    assert_int_equal(style_of(f, 2, "unread"), STYLE_ALERT);
    assert_true(says(f, "too deep 2.0%"));
    assert_true(says(f, "untraced 30.0%"));
    assert_true(says(f, "gone 12.0%"));

    snapshot = Sample_new((struct SampleSpec){0});
    snapshot->sampler_samples = 1000;
    snapshot->sampler_unknown = 9;
    snapshot->sampler_truncated = 10;
    snapshot->sampler_elsewhere = .009;
    draw(f, snapshot, 240);
    assert_false(says(f, "unread") || says(f, "too deep"));
    assert_false(says(f, "untraced") || says(f, "gone"));

    snapshot = Sample_new((struct SampleSpec){.no_sampler = 1});
    draw(f, snapshot, 240);
    assert_false(says(f, "unread") || says(f, "too deep"));
    assert_false(says(f, "untraced") || says(f, "gone"));
}

TEST_FIXTURE(test_threads_that_wait_for_a_cpu)
{
    struct Snapshot *snapshot = Sample_new((struct SampleSpec){0});

    snapshot->cpu_waited = .049;
    draw(f, snapshot, 80);
    assert_false(says(f, "for a CPU"));
    snapshot = Sample_new((struct SampleSpec){0});
    snapshot->cpu_waited = .23;
    draw(f, snapshot, 80);
    assert_true(says(f, "waiting for a CPU 23.0%"));
    assert_int_equal(style_of(f, 2, "waiting for"), STYLE_ALERT);
}
