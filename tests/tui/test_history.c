// SPDX-License-Identifier: MIT
// Tests tui/model/history, which computes the growth of counters between any
// two answers of a process.
#include "tui/model/history.h"

#include <math.h>

#include "tests/unit.h"

static struct History history;

static void end(void)
{
    History_release(&history);
}

// Returns the counters of one time, with unsorted keys. If `other` is 0, the
// third counter is left out.
static struct Moment moment_at(double at_s, double one, double two,
                               double other)
{
    static struct Total totals[3];

    totals[0] = (struct Total){9, one, one / 2};
    totals[1] = (struct Total){5, two, two / 2};
    totals[2] = (struct Total){7, other, other / 2};
    return (struct Moment){at_s, 100 * at_s, totals, other > 0 ? 3 : 2};
}

static void note(double at_s, double one, double two, double other)
{
    struct Moment now = moment_at(at_s, one, two, other);

    History_note(&history, &now);
}

static void expect(const struct Moment *now, enum Period period,
                   double expected_s, const double *numbers)
{
    const struct Moment *then = History_begin(&history, now->at_s, period);

    assert_true(fabs(now->at_s - then->at_s - expected_s) < 1e-9);
    assert_true(fabs(now->samples - then->samples - 100 * expected_s) < 1e-6);
    for (size_t i = 0; i < now->count; i++) {
        struct Total since = Moment_since(then, &now->totals[i]);

        assert_int_equal(since.key, now->totals[i].key);
        assert_float_equal(since.all, numbers[i], 1e-9);
        assert_float_equal(since.in_c, numbers[i] / 2, 1e-9);
    }
}

TEST_WITH(test_periods, NULL, end)
{
    struct Moment now;

    // The first counter grows for 90 s. Then the second one grows.
    for (int s = 1; s <= 100; s++)
        note(s, s < 90 ? s : 90, s < 90 ? 0 : s - 90, 0);
    now = moment_at(101, 90, 10, 1);
    expect(&now, PERIOD_5_S, 5, (double[]){0, 4, 1});
    expect(&now, PERIOD_60_S, 60, (double[]){49, 10, 1});
    expect(&now, PERIOD_SINCE, 101, (double[]){90, 10, 1});
    assert_string_equal(History_about(&history, PERIOD_SINCE),
                        ", since the start");
    assert_string_equal(History_about(&history, PERIOD_5_S), "");
    History_mark(&history, &now);
    assert_string_equal(History_about(&history, PERIOD_SINCE), ", since r");
    now = moment_at(103, 91, 10, 1.5);
    expect(&now, PERIOD_SINCE, 2, (double[]){1, 0, 0.5});
}

TEST_WITH(test_a_minute_has_room, NULL, end)
{
    double last;

    for (int i = 0; i < 10000; i++) {
        note(i * 0.1, i * 0.1, 0, 0);
        assert_true(history.count <= HISTORY_MOST);
    }
    last = history.moments[history.count - 1].at_s;
    assert_true(last > 999 && history.moments[0].at_s <= last - 60);
    assert_true(history.moments[1].at_s > last - 60);
}

TEST_WITH(test_another_trace, NULL, end)
{
    struct Moment now = moment_at(52, 41, 1, 0);

    note(50, 40, 1, 0);
    History_mark(&history, &now);
    History_note(&history, &now);
    note(1, 0.5, 0, 0);
    assert_int_equal(history.count, 1);
    assert_null(history.mark.totals);
    now = (struct Moment){.at_s = 3}; // No counters.
    History_note(&history, &now);
    assert_int_equal(history.count, 2);
}
