// SPDX-License-Identifier: MIT
// Tests the hits of lines: when a line loses its hook, and the rates of lines.
// A rate is counted if all hits are counted, and otherwise estimated from the
// function's own time and its share.
#include "ipc/base/heap.h"
#include "tracer/code/line_hits.h"

#include <math.h>

#include "tests/unit.h"

#define HZ 1e9

static struct LineHits *new_lines(bool late)
{
    struct LineHits *lines =
        LineHits_new((struct LineRange){.first = 10, .count = 3}, late);

    assert_non_null(lines);
    Counter_set(&lines->begun_ticks, 1000);
    return lines;
}

// Hits a line. The function has run for `ticks` since the hit before.
static void hit(struct LineHits *lines, uint64_t line, uint64_t ticks)
{
    struct LineHit *at = LineHits_at(lines, line);

    Counter_add(&lines->ticks, ticks);
    Counter_add(&at->timed, 1);
    if (Counter_add(&at->hits, 1) >= at->stop_at)
        LineHits_darken(lines, at);
}

TEST(test_lines_outside_the_range)
{
    struct LineHits *lines = new_lines(false);

    assert_null(LineHits_at(NULL, 10));
    assert_null(LineHits_at(lines, 9));
    assert_null(LineHits_at(lines, 13));
    assert_ptr_equal(LineHits_at(lines, 12), &lines->lines[2]);
    Heap_free(lines);
}

TEST(test_counted_rates)
{
    struct LineHits *lines = new_lines(false);

    LineHits_arm(lines, 0);
    for (int i = 0; i < 500; i++)
        hit(lines, 10, 20);
    LineHits_read(lines, 1000 + 100000000u, HZ); // too soon after the first hit
    assert_true(isnan(LineHits_rate(lines, &lines->lines[0], 0, HZ)));
    LineHits_read(lines, 1000 + 2000000000u, HZ);
    assert_float_equal(LineHits_rate(lines, &lines->lines[0], 0, HZ), 250,
                       1e-9);
    assert_float_equal(LineHits_rate(lines, &lines->lines[1], 0, HZ), 0, 1e-9);
    hit(lines, 10, 20);
    // This reading comes too early to change the rate.
    LineHits_read(lines, 1000 + 2100000000u, HZ);
    assert_float_equal(LineHits_rate(lines, &lines->lines[0], 0, HZ), 250,
                       1e-9);
    LineHits_extend(lines, 0); // These lines keep their hooks.
    assert_false(LineHit_is_dark(&lines->lines[0]));
    Heap_free(lines);
}

// The function runs in bursts for a hundredth of the time. The first line has a
// hit every 50 ticks, and the second line has a tenth of these hits.
TEST(test_estimated_rates_of_bursts)
{
    struct LineHits *lines = new_lines(true);
    double one, two;

    LineHits_arm(lines, 64);
    for (int i = 0; i < 640; i++) {
        if (!LineHit_is_dark(&lines->lines[0]))
            hit(lines, 10, 50);
        else
            Counter_add(&lines->ticks, 50);
        if (i % 10 == 9)
            hit(lines, 11, 0);
    }
    assert_true(LineHit_is_dark(&lines->lines[0]));
    assert_true(LineHit_is_dark(&lines->lines[1]));
    assert_false(LineHit_is_dark(&lines->lines[2]));
    one = LineHits_rate(lines, &lines->lines[0], .01, HZ);
    two = LineHits_rate(lines, &lines->lines[1], .01, HZ);
    assert_float_equal(one, .01 * HZ / 50, 1);
    assert_float_equal(two, one / 10, 1);
    assert_true(isnan(LineHits_rate(lines, &lines->lines[2], .01, HZ)));
    assert_true(isnan(LineHits_rate(lines, &lines->lines[0], 0, HZ)));
    // The next slice changes the rate according to its number of hits.
    LineHits_arm(lines, 64);
    for (int i = 0; i < 64; i++)
        hit(lines, 10, 100);
    one = LineHits_rate(lines, &lines->lines[0], .01, HZ);
    assert_float_equal(one, .01 * HZ * (48 + 64) / (48 * 50 + 64 * 100), 1);
    // No rate, because too much time was lost or the function waits too much.
    LineHits_lose(lines, (int64_t)Counter_get(&lines->ticks));
    assert_true(isnan(LineHits_rate(lines, &lines->lines[0], .01, HZ)));
    assert_true(isnan(LineHits_share(.2, .1, 0)));
    assert_float_equal(LineHits_share(.2, .35, .3), .25, 1e-9);
    LineHits_extend(lines, 0);
    hit(lines, 12, 1);
    assert_true(LineHit_is_dark(&lines->lines[2]));
    Heap_free(lines);
}
