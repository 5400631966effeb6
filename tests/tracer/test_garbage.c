// SPDX-License-Identifier: MIT
// Tests tracer/hook/garbage.
#include "tracer/hook/garbage.h"

#include <math.h>

#include "tests/unit.h"

#define HZ 1000.0 // Ticks a second.

static struct Garbage garbage;

static void reset(void)
{
    Garbage_reset(&garbage, 100);
    Counter_set(&garbage.known, 1);
}

static void collect(unsigned generation, uint64_t ticks, uint64_t pause)
{
    Garbage_begin(&garbage, ticks);
    Garbage_end(&garbage, generation, ticks + pause);
}

TEST_WITH(test_the_share_follows_the_last_seconds, reset, NULL)
{
    assert_true(isnan(Garbage_share(&garbage, 100, HZ))); // No time has passed.
    collect(0, 10, 500);
    assert_float_equal(Garbage_share(&garbage, 101, HZ), 0.5, 1e-6);
    for (int s = 102; s < 105; s++)
        Garbage_share(&garbage, s, HZ);
    assert_float_equal(Garbage_share(&garbage, 105, HZ), 0.1, 0.03);
    for (int s = 106; s < 200; s++)
        Garbage_share(&garbage, s, HZ);
    assert_float_equal(Garbage_share(&garbage, 200, HZ), 0, 1e-3);
    for (int s = 201; s < 300; s++) {
        collect(0, 10, 200);
        Garbage_share(&garbage, s, HZ);
    }
    assert_float_equal(Garbage_share(&garbage, 299, HZ), 0.2, 0.02);
}

TEST_WITH(test_the_share_after_a_time_without_updates, reset, NULL)
{
    collect(0, 10, 50 * (uint64_t)HZ);
    assert_float_equal(Garbage_share(&garbage, 200, HZ), 0.5, 1e-6);
    // Without collections, the share decays.
    for (int s = 201; s <= 220; s++)
        Garbage_share(&garbage, s, HZ);
    assert_float_equal(Garbage_share(&garbage, 220, HZ), 0.5 * exp(-2), 0.01);
}

TEST_WITH(test_the_share_is_at_most_one, reset, NULL)
{
    Garbage_share(&garbage, 105, HZ);
    // This collection began before the last call of Garbage_share.
    collect(0, 10, 6 * (uint64_t)HZ);
    assert_float_equal(Garbage_share(&garbage, 106, HZ), 1, 1e-6);
}

TEST_WITH(test_the_time_does_not_run_backwards, reset, NULL)
{
    Garbage_begin(&garbage, 20);
    // The collection ends on a CPU whose time stamp counter is behind.
    Garbage_end(&garbage, 0, 19);
    assert_int_equal(Garbage_collections(&garbage), 0);
    assert_int_equal(Counter_get(&garbage.generations[0].longest), 0);
}
