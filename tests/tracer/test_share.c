// SPDX-License-Identifier: MIT
// Tests tracer/base/share. A window of a share decays, and grows until it
// contains enough samples. A total does not decay.
#include "tracer/base/share.h"

#include <math.h>

#include "tests/unit.h"

#define S 1e9       // ns in a second.
#define PERIOD 0.25 // Seconds between two steps of the sampler.

static struct ShareClock watch;

static void set_up(void)
{
    watch = (struct ShareClock){0};
}

static double window(const struct ShareValue *value)
{
    struct ShareTime now = ShareClock_now(&watch);

    return ShareValue_window(value, &now);
}

static double total(const struct ShareValue *value)
{
    struct ShareTime now = ShareClock_now(&watch);

    return ShareValue_total(value, &now);
}

static void add(struct ShareValue *value, double ns)
{
    struct ShareTime now = ShareClock_now(&watch);

    ShareValue_add(value, &now, ns);
}

// Adds `seconds` in which a function takes the fraction `part` of each period,
// with `hz` samples a second.
static void load(struct ShareValue *value, double seconds, double hz,
                 double part)
{
    for (double t = PERIOD; t <= seconds + 1e-9; t += PERIOD) {
        ShareClock_advance(&watch, PERIOD * S, PERIOD * hz);
        add(value, PERIOD * part * S);
    }
}

// The window contains 300 samples, but is at least 5 s and at most 60 s long.
TEST_WITH(test_the_window_is_as_long_as_it_must_be, set_up, NULL)
{
    static const struct {
        double hz, window_s;
    } rates[] = {{0, 60},    {1, 60}, {5, 60},  {6, 50},
                 {24, 12.5}, {60, 5}, {250, 5}, {2000, 5}};

    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct ShareValue value = {0};
        double window_s = rates[i].window_s, samples = rates[i].hz * window_s;

        set_up();
        load(&value, 600, rates[i].hz, 1);
        assert_float_equal(ShareClock_window_s(&watch), window_s,
                           window_s / 1000);
        assert_float_equal(ShareClock_samples(&watch), samples, samples / 1000);
    }
}

TEST_WITH(test_the_window_forgets, set_up, NULL)
{
    struct ShareValue value = {0};
    double kept;

    load(&value, 60, 24, 1);
    kept = exp(-12.5 * 24 / SHARE_SAMPLES);
    for (double t = 0; t < 12.5 - 1e-9; t += PERIOD)
        ShareClock_advance(&watch, PERIOD * S, PERIOD * 24);
    assert_float_equal(window(&value), kept, 0.001);
    assert_float_equal(total(&value), 60 / 72.5, 1e-9);
    for (double t = 0; t < 1000; t += PERIOD)
        ShareClock_advance(&watch, PERIOD * S, PERIOD * 24);
    assert_true(window(&value) < 1e-6);
}

// The program changes from one function to another. Returns the seconds until
// the new function's share exceeds the old function's share.
static double until_it_leads(double hz)
{
    struct ShareValue before = {0}, after = {0};
    double s = 0;

    watch = (struct ShareClock){0};
    load(&before, 300, hz, 1);
    while (window(&after) <= window(&before)) {
        load(&after, PERIOD, hz, 1);
        s += PERIOD;
    }
    return s;
}

TEST_WITH(test_a_new_leader, set_up, NULL)
{
    assert_true(until_it_leads(24) <= 5);
    assert_true(until_it_leads(250) <= 2);
    // Twenty samples are too few for a sure share.
    assert_true(until_it_leads(1) > 15);
}

// The clock has jumped by an hour. A minute later, the window has forgotten
// this hour.
TEST_WITH(test_a_clock_that_jumps, set_up, NULL)
{
    static const double odd[] = {0, -1 * S, -1e18, NAN};
    struct ShareValue value = {0};
    struct ShareTime before;

    load(&value, 30, 100, 0.5);
    before = ShareClock_now(&watch);
    for (size_t i = 0; i < 4; i++) {
        struct ShareTime now;

        ShareClock_advance(&watch, odd[i], 1000);
        now = ShareClock_now(&watch);
        assert_memory_equal(&now, &before, sizeof now);
    }
    assert_float_equal(ShareClock_samples(&watch), 500, 1);
    ShareClock_advance(&watch, 3600 * S, 0);
    assert_true(window(&value) < 1e-6);
    load(&value, 60, 100, 0.5);
    assert_float_equal(window(&value), 0.5, 1e-3);
    assert_float_equal(ShareClock_window_s(&watch), 5, 0.01);
}

TEST_WITH(test_threads_that_stay, set_up, NULL)
{
    struct ShareStill still = {.turn = 0};
    uint64_t age;

    assert_int_equal(ShareStill_get(&still, 5, &age), 0);
    // The numbers of a turn are complete when the next turn begins.
    ShareStill_add(&still, 1, 300, 2000, 5);
    ShareStill_add(&still, 1, 900, 2000, 7);
    ShareStill_add(&still, 2, 700, 3000, 6);
    assert_int_equal(ShareStill_get(&still, 2500, &age), 2);
    assert_true(age == 900 && Counter_get(&still.unit) == 7);
    ShareStill_add(&still, 3, 100, 4000, 5);
    assert_int_equal(ShareStill_get(&still, 3999, &age), 1);
    assert_int_equal(age, 700);
    assert_int_equal(ShareStill_get(&still, 4000, &age), 0);
    // The fourth turn has not found the function.
    ShareStill_add(&still, 5, 100, 6000, 5);
    assert_int_equal(ShareStill_get(&still, 5000, &age), 0);
}

// A reader's time can be before the newest added time.
TEST_WITH(test_a_reader_may_be_late, set_up, NULL)
{
    struct ShareValue value = {0};
    struct ShareTime before, never = {0};

    load(&value, 10, 100, 0.5);
    before = ShareClock_now(&watch);
    load(&value, PERIOD, 100, 0.5);
    assert_float_equal(ShareValue_window(&value, &before), 0.5, 0.05);
    assert_true(ShareValue_window(&value, &never) == 0);
    assert_true(ShareValue_total(&value, &never) == 0);
}
