// SPDX-License-Identifier: MIT
// tui/views/header: what the lines at the top say about a process, and in which
// style.
#include "tui/views/header.h"

#include "tests/tui/sample.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEIGHT 3

struct Fixture {
    struct Model model;
    struct Canvas canvas;
    char text[8192];
};

// Draws the header of a process with these numbers.
static void draw(struct Fixture *f, struct Snapshot *snapshot, int width)
{
    struct Status status = {.version = "0.1.0", .rate_s = 1};
    struct Bytes out;

    assert_int_equal(Model_push(&f->model, snapshot), 0);
    Canvas_resize(&f->canvas, width, HEIGHT);
    Header_draw(&f->canvas, &f->model, &status);
    Bytes_init(&out);
    Canvas_write(&f->canvas, &out);
    assert_true(out.size < sizeof f->text);
    memcpy(f->text, out.data, out.size);
    f->text[out.size] = '\0';
    Bytes_release(&out);
}

static bool says(const struct Fixture *f, const char *words)
{
    return strstr(f->text, words) != NULL;
}

// Returns the style of the first cell of an ASCII text on line y.
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

// --- The overhead

#define FULL 0x2588 // a full block

static struct Snapshot *costing(double measured, double allowed)
{
    struct Snapshot *snapshot = Sample_new((struct SampleWish){0});

    snapshot->overhead_measured = measured;
    snapshot->overhead_allowed = allowed;
    return snapshot;
}

static void test_overhead_within_the_budget(void **state)
{
    struct Fixture *f = *state;

    draw(f, costing(.008, .01), 200);
    assert_int_equal(style_of(f, 1, "0.8%"), STYLE_ARMED);
    assert_true(says(f, "0.8% of 1.0%  "));
    assert_int_equal(count_cells(f, FULL, STYLE_ARMED), 8);
    draw(f, costing(.008, .01), 150); // of 6
    assert_int_equal(count_cells(f, FULL, STYLE_ARMED), 5);
    // An older process does not report what is allowed.
    draw(f, costing(.008, NULL_F64), 150);
    assert_int_equal(style_of(f, 1, "0.8%"), STYLE_ARMED);
    assert_true(says(f, "0.8% of 1.0%  "));
}

static void test_overhead_beyond_the_budget(void **state)
{
    struct Fixture *f = *state;

    draw(f, costing(.02, .01), 200);
    assert_int_equal(style_of(f, 1, "2.0%"), STYLE_ALERT);
    assert_int_equal(count_cells(f, FULL, STYLE_ALERT), 10);
    draw(f, costing(.02, NULL_F64), 80);
    assert_int_equal(style_of(f, 1, "2.0%"), STYLE_ALERT);
    // "1.0% of 1.0%" is no alert.
    draw(f, costing(.0102, .01), 150);
    assert_int_equal(style_of(f, 1, "1.0%"), STYLE_ARMED);
}

// The same share of next to nothing is no alert.
static void test_overhead_of_one_that_does_little(void **state)
{
    struct Fixture *f = *state;

    draw(f, costing(.3, .5), 200);
    assert_int_equal(style_of(f, 1, "30.0%"), STYLE_ARMED);
    assert_int_equal(count_cells(f, FULL, STYLE_ARMED), 6);
    assert_true(says(f, "30.0% of 50.0% (below 0.2 cores; budget 1.0%)"));
    draw(f, costing(.3, .5), 80);
    assert_int_equal(style_of(f, 1, "30.0%"), STYLE_ARMED);
    assert_true(says(f, "30.0% of 50.0% (below 0.2 cores)"));
    draw(f, costing(.6, .5), 80);
    assert_int_equal(style_of(f, 1, "60.0%"), STYLE_ALERT);
}

static void test_overhead_without_a_budget(void **state)
{
    struct Fixture *f = *state;
    struct Snapshot *snapshot = costing(.3, 0);

    snapshot->overhead_budget = NULL_F64;
    draw(f, snapshot, 150);
    assert_int_equal(style_of(f, 1, "30.0%"), STYLE_PLAIN);
    assert_false(says(f, "30.0% of"));
    assert_false(says(f, "idle"));
}

static void test_what_the_overhead_is_made_of(void **state)
{
    struct Fixture *f = *state;
    struct Snapshot *snapshot = costing(.0093, .01);

    snapshot->overhead_hooks = .0012;
    snapshot->overhead_rearm = .0027;
    snapshot->overhead_threads = .0054;
    draw(f, snapshot, 150);
    assert_true(says(f, "hooks 0.1 re-arm 0.3 threads 0.5"));
    // With everything else that may stand there, in terminals of common sizes.
    for (int width = 80; width < 200; width++) {
        draw(f, Sample_new((struct SampleWish){0}), width);
        assert_true(says(f, "of 1.0%"));
        assert_true(says(f, "hooks 0.6 re-arm 0.1 threads 0.1"));
        assert_true(says(f, width < 140 ? "● 5  ◐ 3  ○ 4"
                                        : "● 5 armed  ◐ 3 partial  ○ 4 dark"));
        if (width >= 94)
            assert_true(says(f, "oldest data"));
    }
    // Where there is no room for that, the age has room.
    draw(f, Sample_new((struct SampleWish){0}), 60);
    assert_false(says(f, "hooks"));
    assert_true(says(f, "oldest data"));
}

// --- The window

static void test_what_shares_rest_on(void **state)
{
    struct Fixture *f = *state;
    struct Snapshot *snapshot = Sample_new((struct SampleWish){0});

    snapshot->sampler_window_s = 30;
    snapshot->sampler_window_samples = 412;
    draw(f, snapshot, 150);
    assert_true(says(f, "over 30 s, 412 samples   by CPU timers, signal 35"));
    for (int width = 80; width < 200; width++) {
        draw(f, Sample_new((struct SampleWish){0}), width);
        assert_true(says(f, "over 12 s, 1 212 samples"));
    }
    snapshot = Sample_new((struct SampleWish){0});
    snapshot->sampler_untimed = 2;
    draw(f, snapshot, 150);
    assert_true(says(f, "by CPU timers, signal 35, 2 threads without"));
    snapshot = Sample_new((struct SampleWish){0});
    snapshot->sampler_signal = NULL_U64;
    draw(f, snapshot, 100);
    assert_true(says(f, "by wall-clock samples"));
    assert_int_equal(style_of(f, 2, "by wall-clock"), STYLE_PARTIAL);
    snapshot = Sample_new((struct SampleWish){0}); // an older process
    snapshot->sampler_window_s = snapshot->sampler_window_samples = NAN;
    draw(f, snapshot, 150);
    assert_false(says(f, "samples"));
    draw(f, Sample_new((struct SampleWish){.no_sampler = 1}), 150);
    assert_false(says(f, "by wall-clock"));
}

static void test_idle_functions_are_counted(void **state)
{
    struct Fixture *f = *state;

    draw(f, Sample_new((struct SampleWish){0}), 80);
    assert_false(says(f, "hidden"));
    Model_toggle_idle(&f->model);
    for (int width = 60; width < 160; width += 20) {
        draw(f, Sample_new((struct SampleWish){0}), width);
        assert_true(says(f, "1 idle hidden (i)"));
    }
}

// --- Without a sampler

static void test_why_there_are_no_shares(void **state)
{
    struct Fixture *f = *state;

    draw(f, Sample_new((struct SampleWish){.no_sampler = 1}), 150);
    assert_true(says(f, "shares are not sampled  "));
    draw(f, Sample_new((struct SampleWish){.no_sampler = 1, .trouble = 1}),
         150);
    assert_true(says(f, "shares are not sampled: this process may not"));
    assert_int_equal(style_of(f, 2, ": this process"), STYLE_ALERT);
    draw(f, Sample_new((struct SampleWish){.no_sampler = 1, .trouble = 1}), 60);
    assert_true(says(f, "shares are not sampled"));
}

// --- One thread

static void test_what_a_thread_has_beside_its_rows(void **state)
{
    struct Fixture *f = *state;

    draw(f, Sample_new((struct SampleWish){0}), 150);
    assert_false(says(f, "others"));
    Model_watch(&f->model, &f->model.snapshot->threads[0]);
    for (int width = 80; width <= 150; width += 70) {
        draw(f, Sample_new((struct SampleWish){0}), width);
        assert_true(says(f, "48.0% cpu"));
        assert_true(says(f, "others 33.6%"));
    }
}

static int set_up(void **state)
{
    struct Fixture *f = calloc(1, sizeof *f);

    Model_init(&f->model);
    Canvas_init(&f->canvas, false);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct Fixture *f = *state;

    Canvas_release(&f->canvas);
    Model_release(&f->model);
    free(f);
    return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

// --- What the rows lack

// The header shows it where it is much, and not where nobody measures it.
static void test_what_the_rows_lack(void **state)
{
    struct Fixture *f = *state;
    struct Snapshot *snapshot = Sample_new((struct SampleWish){0});
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

    snapshot = Sample_new((struct SampleWish){0});
    snapshot->sampler_samples = 1000;
    snapshot->sampler_unknown = 9;
    snapshot->sampler_truncated = 10;
    snapshot->sampler_elsewhere = .009;
    draw(f, snapshot, 240);
    assert_false(says(f, "unread") || says(f, "too deep"));
    assert_false(says(f, "untraced") || says(f, "gone"));

    snapshot = Sample_new((struct SampleWish){.no_sampler = 1});
    draw(f, snapshot, 240);
    assert_false(says(f, "unread") || says(f, "too deep"));
    assert_false(says(f, "untraced") || says(f, "gone"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_overhead_within_the_budget),
        TEST(test_overhead_beyond_the_budget),
        TEST(test_overhead_of_one_that_does_little),
        TEST(test_overhead_without_a_budget),
        TEST(test_what_the_overhead_is_made_of),
        TEST(test_what_shares_rest_on),
        TEST(test_idle_functions_are_counted),
        TEST(test_why_there_are_no_shares),
        TEST(test_what_a_thread_has_beside_its_rows),
        TEST(test_what_the_rows_lack),
    };

    setlocale(LC_CTYPE, "C.UTF-8"); // wide characters have their width
    return cmocka_run_group_tests(tests, NULL, NULL);
}
