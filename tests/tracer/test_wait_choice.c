// SPDX-License-Identifier: MIT
// Tests which waits are recorded. The sums of waits must be right, and the
// number of recorded waits must be bounded.
#include "tests/unit.h"
#include "tracer/sample/wait_choice.h"

#define STEPS 4000
#define THREADS 100
#define STORED_NS 131e9 // Longest time that fits into a recording.

// Observes threads, each of which waits for `ns` in each step. Returns the
// recorded time divided by the true time. Sets *count to the number of recorded
// waits in a step.
static double observe(unsigned threads, double ns, double *count)
{
    struct WaitChoice choice = {0};
    double recorded = 0, factor;

    *count = 0;
    for (int step = 0; step < STEPS; step++) {
        WaitChoice_begin(&choice);
        for (unsigned i = 0; i < threads; i++) {
            factor = WaitChoice_factor(&choice, ns, ns);
            recorded += factor * ns;
            *count += (factor > 0) / (double)STEPS;
        }
    }
    return recorded / (ns * threads * STEPS);
}

TEST(test_few_waits_are_all_recorded)
{
    double count;

    assert_float_equal(observe(WAIT_CHOICE_STEP, 250e6, &count), 1, 1e-9);
    assert_float_equal(count, WAIT_CHOICE_STEP, 1e-9);
}

TEST(test_many_waits_are_chosen)
{
    double count;

    assert_float_equal(observe(THREADS, 250e6, &count), 1, 0.05);
    // In the first step the number of waits is not known beforehand.
    assert_float_equal(count, WAIT_CHOICE_STEP, 2);
}

TEST(test_short_waits_are_seldom_recorded)
{
    double count;

    assert_float_equal(observe(4, 1e6, &count), 1, 0.05);
    assert_true(count < 0.5);
}

// If there are only few waits in a step, each of them is recorded with its
// length.
TEST(test_few_waits_keep_their_lengths)
{
    struct WaitChoice choice = {0};

    for (int step = 0; step < STEPS; step++) {
        WaitChoice_begin(&choice);
        for (unsigned i = 1; i <= WAIT_CHOICE_STEP; i++)
            assert_float_equal(WaitChoice_factor(&choice, i * 10e6, 0), 1, 0);
    }
}

// Threads wait in two functions alternately, and each gets its true part.
TEST(test_each_wait_has_its_chance)
{
    struct WaitChoice choice = {0};
    double sums[2] = {0};

    for (int step = 0; step < STEPS; step++) {
        WaitChoice_begin(&choice);
        for (unsigned i = 0; i < THREADS; i++) {
            unsigned turn = ((unsigned)step + i) % 2;
            double ns = turn ? 10e6 : 30e6;

            sums[turn] += ns * WaitChoice_factor(&choice, ns, ns);
        }
    }
    assert_float_equal(sums[1] / (sums[0] + sums[1]), 0.25, 0.03);
}

// A long wait among many short ones is always recorded, with its own length.
TEST(test_a_long_wait_is_always_recorded)
{
    struct WaitChoice choice = {0};

    for (int step = 0; step < STEPS; step++) {
        WaitChoice_begin(&choice);
        for (unsigned i = 0; i < THREADS; i++)
            WaitChoice_factor(&choice, 1e6, 1e6);
        assert_float_equal(WaitChoice_factor(&choice, 250e6, 250e6), 1, 0);
    }
}

// Even if very many threads wait, no recorded wait and no weight of a kind of
// wait is too long for a recording.
TEST(test_no_recorded_wait_is_too_long)
{
    struct WaitChoice choice = {0};
    double recorded = 0, factor, ns = 60e9;

    for (int step = 0; step < STEPS; step++) {
        WaitChoice_begin(&choice);
        for (unsigned i = 0; i < THREADS; i++) {
            factor = WaitChoice_factor(&choice, ns, 1.5 * ns);
            recorded += factor * ns;
            assert_true(factor * 1.5 * ns < STORED_NS);
        }
    }
    assert_float_equal(recorded / (ns * THREADS * STEPS), 1, 0.02);
}
