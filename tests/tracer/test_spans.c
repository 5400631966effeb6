// SPDX-License-Identifier: MIT
// Tests tracer/code/spans. A span is a time in which a function has hooks.
// Spans give rates and numbers of calls, with their errors.
#include "tracer/code/spans.h"

#include "tests/random.h"
#include "tests/tracer/make_code.h"

#include <math.h>

#include "tests/unit.h"

#define HZ 1e9
#define SECOND UINT64_C(1000000000)

static struct Code *code;

static void count(uint64_t calls)
{
    Counter_add(&code->hot.entries, calls);
}

static void set_up(void)
{
    code = make_code(1, 0x1000);
}

static void tear_down(void)
{
    Code_free(code);
}

// The function has 20 calls in two seconds with hooks, then no hooks for 8 s.
TEST_WITH(test_one_span, set_up, tear_down)
{
    Spans_open(code, 5 * SECOND);
    count(12);
    assert_float_equal(Spans_rate(code, 6 * SECOND, HZ), 12, 1e-9);
    Spans_open(code, 6 * SECOND); // Already open, so no effect.
    count(8);
    Spans_close(code, 7 * SECOND, HZ);
    code->hot.dark = true;
    assert_float_equal(Spans_rate(code, 9 * SECOND, HZ), 10, 1e-9);
    assert_true(Spans_missed(code, 7 * SECOND, HZ) == 0);
    assert_float_equal(Spans_missed(code, 15 * SECOND, HZ), 80, 1e-9);
    count(1); // From a late hook.
    assert_float_equal(Spans_missed(code, 15 * SECOND, HZ), 79, 1e-9);
    Spans_close(code, 16 * SECOND, HZ); // Already closed, so no effect.
    assert_float_equal(Spans_missed(code, 15 * SECOND, HZ), 79, 1e-9);
}

// A function that was only called at the start of the program keeps the hooks
// of its last slice. The function's next call is counted and removes the hooks.
// Later calls are missed.
TEST_WITH(test_nothing_is_missed_before_the_hooks_are_removed, set_up,
          tear_down)
{
    Spans_open(code, SECOND);
    count(70);
    Spans_close(code, 2 * SECOND, HZ);
    assert_true(Spans_missed(code, 300 * SECOND, HZ) == 0);
    assert_true(Spans_missed_rate(code, 300 * SECOND, HZ) == 0);
    Spans_open(code, 300 * SECOND);
    Spans_close(code, 301 * SECOND, HZ);
    assert_true(Spans_missed(code, 301 * SECOND, HZ) == 0);
    count(1);
    Spans_begin_dark(code, 400 * SECOND);
    code->hot.dark = true;
    assert_true(Spans_missed_rate(code, 400 * SECOND, HZ) > 0);
    assert_float_equal(Spans_missed(code, 410 * SECOND, HZ),
                       10 * Spans_rate(code, 410 * SECOND, HZ), 1e-9);
}

// Calls are missed before a function gets hooks that stay forever. When it has
// had them for four times as long as it had no hooks, the number of missed
// calls is final.
TEST_WITH(test_what_was_missed_is_settled, set_up, tear_down)
{
    Spans_begin_dark(code, SECOND);
    code->hot.dark = true;
    Spans_open(code, 11 * SECOND);
    code->hot.dark = false;
    count(80);
    Spans_settle(code, 50 * SECOND, HZ);
    assert_false(Spans_is_settled(code));
    Spans_settle(code, 51 * SECOND, HZ);
    assert_true(Spans_is_settled(code));
    assert_float_equal(Spans_missed(code, 51 * SECOND, HZ), 20, 1e-9);
    assert_float_equal(Spans_missed(code, 999 * SECOND, HZ), 20, 1e-9);
    Spans_settle(code, 999 * SECOND, HZ);
    assert_true(Counter_get(&code->spans.open_ticks) == 51 * SECOND);
}

// If the load of a program doubles, the rate follows after a few slices.
TEST_WITH(test_a_load_that_changes, set_up, tear_down)
{
    uint64_t now = 0;

    for (int i = 0; i < 40; i++, now += 10 * SECOND) {
        Spans_open(code, now);
        count(i < 30 ? 100 : 200);
        Spans_close(code, now + SECOND, HZ);
        if (i == 29)
            assert_float_equal(Spans_rate(code, now, HZ), 100, 1);
    }
    assert_float_equal(Spans_rate(code, now, HZ), 200, 8);
}

// A service has no requests in the slice with which tracing begins. This slice
// is longer than the next one, but hardly lowers the rate.
TEST_WITH(test_a_first_span_without_calls, set_up, tear_down)
{
    Spans_open(code, SECOND);
    Spans_close(code, SECOND + SECOND / 2, HZ);
    assert_true(Spans_rate(code, 2 * SECOND, HZ) == 0);
    Spans_open(code, 60 * SECOND);
    count(20);
    Spans_close(code, 60 * SECOND + SECOND / 5, HZ);
    assert_true(Spans_rate(code, 61 * SECOND, HZ) > 80);
}

// This span ended after a fixed number of calls, so it gives no call rate.
TEST_WITH(test_a_span_that_calls_ended, set_up, tear_down)
{
    Spans_open(code, SECOND);
    count(50);
    Spans_close(code, 2 * SECOND, HZ);
    code->spans.arming = ARMED_SLICES;
    code->hot.dark = true;
    Spans_open(code, 10 * SECOND);
    count(2000);
    assert_false(Spans_drop(code, 10 * SECOND + SECOND / 10, true));
    assert_int_equal(Code_arming(code), ARMED_HOT);
    assert_float_equal(Spans_rate(code, 11 * SECOND, HZ), 50, 1e-9);
    assert_float_equal(Spans_missed(code, 99 * SECOND, HZ), 400, 1e-9);
    // The number of missed calls does not grow with the time without hooks,
    // because samples say more about this time.
    assert_float_equal(Spans_missed(code, 20 * SECOND, HZ),
                       Spans_missed(code, 99 * SECOND, HZ), 1e-9);
}

// The function had no hooks at first, and its first span ended by its calls.
TEST_WITH(test_calls_before_the_first_span, set_up, tear_down)
{
    code->hot.dark = true;
    Spans_begin_dark(code, SECOND);
    Spans_open(code, 2 * SECOND);
    assert_false(Spans_drop(code, 3 * SECOND, false));
    assert_true(Spans_drop(code, 3 * SECOND, true));
    assert_true(Spans_missed(code, 9 * SECOND, HZ) == 0);
}

// Three awaits of a coroutine do not count as calls.
TEST_WITH(test_resumptions_are_no_calls, set_up, tear_down)
{
    Spans_open(code, SECOND);
    count(40);
    Counter_add(&code->hot.resumed, 30);
    Spans_close(code, 2 * SECOND, HZ);
    assert_float_equal(Spans_rate(code, 2 * SECOND, HZ), 10, 1e-9);
    assert_float_equal(Code_calls_an_entry(code), 0.25, 1e-9);
}

// In these programs calls come one at a time, or in groups of up to a dozen.
// The difference between the rate and the true rate is below the standard error
// about two times in three.
TEST(test_the_error_is_honest)
{
    static const unsigned clumps[] = {1, 3, 12};

    for (size_t c = 0; c < sizeof clumps / sizeof *clumps; c++) {
        unsigned within = 0, within_two = 0, rounds = 400;

        for (unsigned round = 0; round < rounds; round++) {
            set_up();
            double error, off;

            for (uint64_t slice = 0; slice < 6; slice++) {
                Spans_open(code, slice * 20 * SECOND);
                for (int i = 0; i < 100; i++) // About 20 groups of calls.
                    if (random_u64() % 5 == 0)
                        count(clumps[c]);
                Spans_close(code, (slice * 20 + 1) * SECOND, HZ);
            }
            off = fabs(Spans_rate(code, 200 * SECOND, HZ) - 20.0 * clumps[c]);
            error = Spans_rate_error(code, 200 * SECOND, HZ);
            within += off < error;
            within_two += off < 2 * error;
            Code_free(code);
        }
        assert_true(within > rounds * 0.55);
        assert_true(within_two > rounds * 0.88);
        // If no rate were outside of its error, the errors would be too large.
        assert_true(within < rounds);
    }
}

// The load of a service changes between two slices. After one or two spans with
// many calls, the error of the rate must still be large.
TEST(test_few_spans_with_many_calls_are_uncertain)
{
    unsigned within_two = 0, rounds = 400;

    for (unsigned round = 0; round < rounds; round++) {
        set_up();
        double off;

        for (uint64_t slice = 1; slice <= 1 + round % 2; slice++) {
            Spans_open(code, slice * 60 * SECOND);
            count(1600 + (unsigned)(random_u64() % 800));
            Spans_close(code, (slice * 60 + 1) * SECOND, HZ);
        }
        off = fabs(Spans_rate(code, 200 * SECOND, HZ) - 2000);
        within_two += off < 2 * Spans_rate_error(code, 200 * SECOND, HZ);
        Code_free(code);
    }
    assert_true(within_two > rounds * 0.88);
}
