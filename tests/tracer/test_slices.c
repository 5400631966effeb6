// SPDX-License-Identifier: MIT
// Tests tracer/budget/slices in virtual time: how the cost of slices sets their
// length and rate.
#include "tracer/budget/slices.h"

#include <math.h>

#include "tests/unit.h"

#define TICK 0.05

// Simulates a program whose hooks take `cores` while all are armed.
struct World {
    struct Slices slices;
    struct SlicesReading now;
    double cores;  // cores that hooks take in a slice
    double arming; // seconds that it takes to arm all functions
    unsigned count;
    double open_s, longest_s, shortest_s; // lengths of slices
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

static void run(struct World *w, double s)
{
    for (double until = w->now.now_s + s; w->now.now_s < until;)
        turn(w);
}

// The first slice begins together with the trace.
TEST(test_the_first)
{
    struct World w = world(0.005, 0.001, 0);

    assert_int_equal(w.slices.phase, SLICE_COUNTS);
    run(&w, 0.6);
    assert_int_equal(w.count, 1);
    assert_float_equal(w.open_s, 0.5, 1.1 * TICK);
    assert_int_equal(w.slices.phase, SLICE_RESTS);
}

// Slices that cost next to nothing come every two seconds and last one second.
TEST(test_cheap)
{
    struct World w = world(0.005, 0.0001, 0.0001);

    run(&w, 300);
    assert_true(w.count > 80 && w.count < 120);
    assert_float_equal(w.open_s, 1, 1.1 * TICK);
}

// Slices take half of the hooks' allowance, whatever one slice costs.
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

// A program whose hooks cost far too much gets short slices, once a minute.
TEST(test_too_dear)
{
    struct World w = world(0.001, 1, 0.002);

    run(&w, 600);
    assert_true(w.count >= 8 && w.count <= 16);
    assert_true(w.open_s < 0.2);
}

// In debt the next slice waits, but not for longer than another interval.
TEST(test_in_debt)
{
    struct World rich = world(0.002, 0.01, 0.001), poor = rich;

    poor.now.overdrawn = true;
    run(&rich, 600);
    run(&poor, 600);
    assert_true(poor.count < rich.count);
    assert_true(poor.count > rich.count / 3);
}

// Slices do not fall into step with a program's rhythm.
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
    assert_true(w.slices.all); // stays set until all functions are armed
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
