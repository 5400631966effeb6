// SPDX-License-Identifier: MIT
// Tests tracer/budget/slices in virtual time. The costs of a slice determine
// how long slices are and how often they come.
#include "tracer/budget/slices.h"

#include <math.h>

#include "tests/unit.h"

#define TICK 0.05

// A simulated program. While all functions have hooks, the hooks take `cores`
// cores.
struct World {
    struct Slices slices;
    struct SlicesReading now;
    double cores;     // Cores that hooks take in a slice.
    double arming;    // Seconds to install all hooks.
    double own;       // Cores in a slice of own functions.
    double own_due_s; // Time of the governor's next full work.
    unsigned count;
    unsigned own_count;
    double own_s;     // Length of the newest slice of own functions.
    double own_end_s; // End of the newest slice of own functions.
    // Longest time between the ends of two slices of own functions.
    double own_gap_s;
    double open_s, longest_s, shortest_s; // Lengths of slices in seconds.
};

static struct World world(double rate, double cores, double arming)
{
    struct World w = {.now = {.now_s = 50, .rate = rate},
                      .cores = cores,
                      .arming = arming,
                      .shortest_s = INFINITY};

    Slices_init(&w.slices, w.now.now_s);
    return w;
}

static void turn(struct World *w)
{
    if (w->slices.phase == SLICE_COUNTS)
        w->now.spent_s += w->cores * TICK;
    else if (w->slices.own_open)
        w->now.hooks_s += w->own * TICK;
    w->now.now_s += TICK;
    switch (Slices_step(&w->slices, &w->now)) {
    case SLICE_BEGINS:
        w->now.spent_s += w->arming;
        Slices_armed(&w->slices, w->now.now_s);
        break;
    case SLICE_ENDS:
        w->open_s = w->now.now_s - w->slices.begun_s;
        w->longest_s = fmax(w->longest_s, w->open_s);
        w->shortest_s = fmin(w->shortest_s, w->open_s);
        Slices_ended(&w->slices, &w->now);
        w->count++;
        break;
    default:
        break;
    }
}

// Every two seconds, the governor does all of its work with the GIL.
static void hold(struct World *w)
{
    if (w->now.now_s < w->own_due_s)
        return;
    w->own_due_s = w->now.now_s + 2;
    if (Slices_step_own(&w->slices, &w->now) != OWN_SLICE_ENDS)
        return;
    w->own_s = w->now.now_s - w->slices.own_begun_s;
    w->own_gap_s = fmax(w->own_gap_s, w->now.now_s - w->own_end_s);
    w->own_end_s = w->now.now_s;
    w->own_count++;
}

static void run(struct World *w, double s)
{
    for (double until = w->now.now_s + s; w->now.now_s < until;) {
        turn(w);
        hold(w);
    }
}

TEST(test_the_first)
{
    struct World w = world(0.005, 0.001, 0);

    assert_int_equal(w.slices.phase, SLICE_COUNTS);
    run(&w, 0.6);
    assert_int_equal(w.count, 1);
    assert_float_equal(w.open_s, 0.5, 1.1 * TICK);
    assert_int_equal(w.slices.phase, SLICE_RESTS);
}

// Slices that cost hardly anything come every two seconds and last one second.
TEST(test_cheap)
{
    struct World w = world(0.005, 0.0001, 0.0001);

    run(&w, 300);
    assert_true(w.count > 80 && w.count < 120);
    assert_float_equal(w.open_s, 1, 1.1 * TICK);
}

// Slices take half of the time that hooks may take, whatever a slice costs.
TEST(test_the_part_is_kept)
{
    static const double cores[] = {0.002, 0.01, 0.03, 0.1};

    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
        struct World w = world(0.002, cores[i], 0.002);
        double before;

        run(&w, 60);
        before = w.now.spent_s;
        run(&w, 600);
        assert_true(w.now.spent_s - before < 600 * 0.001 * 1.25);
        assert_true(w.now.spent_s - before > 600 * 0.001 * 0.4);
        assert_true(w.count > 10);
    }
}

// If the hooks of a program are far too expensive, slices are short and come
// once a minute.
TEST(test_too_dear)
{
    struct World w = world(0.001, 1, 0.002);

    run(&w, 600);
    assert_true(w.count >= 8 && w.count <= 16);
    assert_true(w.open_s < 0.2);
}

// After hooks have exceeded the budget, the next slice comes later, but at most
// by another interval.
TEST(test_in_debt)
{
    struct World rich = world(0.002, 0.01, 0.001), poor = rich;

    poor.now.overdrawn = true;
    run(&rich, 600);
    run(&poor, 600);
    assert_true(poor.count < rich.count);
    assert_true(poor.count > rich.count / 3);
}

TEST(test_the_phase_is_random)
{
    struct World w = world(0.002, 0.01, 0.001);
    unsigned fifths[5] = {0}, before = 0;

    while (w.count < 200) {
        turn(&w);
        if (w.slices.phase == SLICE_COUNTS && before != w.count) {
            before = w.count;
            fifths[(unsigned)(fmod(w.slices.begun_s, 5))]++;
        }
    }
    for (int i = 0; i < 5; i++)
        assert_true(fifths[i] > 15);
}

// Slices of all functions cost so much that they come once a minute. Slices of
// only the program's own functions cost little, and come every few seconds.
TEST(test_own_functions_are_counted_more_often)
{
    struct World w = world(0.001, 1, 0.002);

    w.own = 0.0001;
    run(&w, 60);
    w.count = w.own_count = 0;
    w.own_gap_s = 0;
    run(&w, 600);
    assert_true(w.count >= 8 && w.count <= 16);
    assert_true(w.own_count > 60 && w.own_count < 160);
    assert_float_equal(w.own_s, 2, 1.1 * TICK);
    assert_true(w.own_gap_s < 16);
}

TEST(test_own_functions_that_cost_much)
{
    struct World w = world(0.001, 1, 0.002);
    unsigned count;

    w.own = 0.005;
    run(&w, 60);
    count = w.own_count;
    run(&w, 600);
    assert_true((w.own_count - count) * 2 * w.own < 600 * 0.25 * 0.001 * 1.3);
    assert_true(w.own_count - count > 8);
}

// If slices of all functions come every two seconds, separate slices of own
// functions are not needed.
TEST(test_cheap_slices_need_no_others)
{
    struct World w = world(0.005, 0.0001, 0.0001);

    run(&w, 300);
    assert_true(w.count > 80);
    assert_int_equal(w.own_count, 0);
}

// While modules are imported, no slice begins. The first slice after the
// imports begins at once, even if the budget is exceeded.
TEST(test_imports_get_no_slice)
{
    struct World w = world(0.001, 0.1, 0.001);

    w.now.burst = w.now.overdrawn = true;
    run(&w, 40);
    assert_int_equal(w.count, 1);
    w.now.burst = false;
    run(&w, 1.5);
    assert_int_equal(w.count, 2);
}

TEST(test_code_that_comes_for_ever)
{
    struct World w = world(0.002, 0.01, 0.001);

    w.now.burst = true;
    run(&w, 600);
    assert_true(w.count > 5);
}

// If many functions are newer than the newest slice, the next slice comes after
// a fourth of the interval.
TEST(test_many_new_functions)
{
    struct World w = world(0.001, 1, 0.002);

    w.now.codes = 800;
    run(&w, 200);
    while (w.slices.phase != SLICE_RESTS)
        turn(&w);
    w.count = 0;
    run(&w, 25);
    assert_int_equal(w.count, 0);
    w.now.codes = 1000;
    run(&w, 1);
    assert_int_equal(w.count, 1);
    run(&w, 25);
    assert_int_equal(w.count, 1);
}

TEST(test_hurry)
{
    struct World w = world(0.002, 0.01, 0.001);

    run(&w, 20);
    while (w.slices.phase != SLICE_RESTS)
        turn(&w);
    Slices_hurry(&w.slices);
    assert_true(w.slices.all);
    w.now.now_s += TICK;
    assert_int_equal(Slices_step(&w.slices, &w.now), SLICE_BEGINS);
    assert_true(w.slices.all); // True until all hooks are in.
    Slices_armed(&w.slices, w.now.now_s);
    assert_false(w.slices.all);
}

TEST(test_a_clock_that_jumps)
{
    static const double jumps[] = {-500, 500, -1e9};

    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        struct World w = world(0.002, 0.01, 0.001);
        unsigned before;

        run(&w, 60);
        w.now.now_s += jumps[i];
        before = w.count;
        run(&w, 130);
        assert_true(w.count - before >= 2);
    }
}
