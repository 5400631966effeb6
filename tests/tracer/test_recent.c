// SPDX-License-Identifier: MIT
// Tests tracer/code/recent, which chooses the calls from which a mean is
// computed.
#include "tracer/code/recent.h"

#include "tests/unit.h"

#include "tests/between.h"

static struct Recent recent;
static struct RecentMark sums;

// Adds `calls` calls of `cycles` cycles each in the second number `second`.
static void pass(uint64_t calls, uint64_t cycles, uint64_t second)
{
    Counter_add(&sums.calls, calls);
    Counter_add(&sums.cycles, calls * cycles);
    Counter_add(&sums.waited, calls * cycles / 10);
    Recent_note(&recent, &sums, second * 1000, RECENT_S * 1000);
}

static double mean(void)
{
    const struct RecentMark *from = Recent_mark(&recent);

    return (double)(Counter_get(&sums.cycles) - Counter_get(&from->cycles)) /
           (double)(Counter_get(&sums.calls) - Counter_get(&from->calls));
}

static void set_up(void)
{
    recent = (struct Recent){.current = 0};
    sums = (struct RecentMark){0};
}

// After a whole day, the mean still follows a change within minutes.
TEST_WITH(test_a_cost_that_changes, set_up, NULL)
{
    uint64_t second;

    for (second = 1; second < 86400; second += 10)
        pass(50, 100, second);
    for (; second < 86400 + 150; second += 10)
        pass(50, 900, second);
    assert_true(mean() < 900); // 1000 calls take 200 s.
    for (; second < 86400 + 700; second += 10)
        pass(50, 900, second);
    assert_true(mean() == 900);
}

// The mean is computed from recent calls, both for functions that are called
// millions of times a second and for functions that are hardly ever called.
TEST_WITH(test_how_far_it_goes_back, set_up, NULL)
{
    const struct RecentMark *mark;
    uint64_t second;

    for (second = 100; second < 200; second++) {
        pass(1000000, 100, second);
        mark = Recent_mark(&recent);
        if (second > 165)
            assert_between(
                (Counter_get(&sums.calls) - Counter_get(&mark->calls)) /
                    1000000,
                30, 62);
    }
    for (; second < 20000; second += 100)
        pass(1, 100, second);
    mark = Recent_mark(&recent);
    assert_true(Counter_get(&sums.calls) - Counter_get(&mark->calls) >= 1000);
    assert_true(Counter_get(&mark->waited) > 0);
    assert_true(Counter_get(&mark->waited) == Counter_get(&mark->cycles) / 10);
}
