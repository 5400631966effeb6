// SPDX-License-Identifier: MIT
// Tests how the cells in the main table show numbers, null, and the signs `~`,
// `>=` and `<`.
#include "tests/function_record.h"
#include "tui/text/text.h"
#include "tui/views/table.h"

#include <string.h>

#include "tests/unit.h"

static const struct Display cycles = {false, false, 2e9};
static const struct Display times = {true, false, 2e9};

static struct ListCell cell;

static struct Function function;
static struct Row row;

static const char *says(enum ColumnId id, const struct Display *display)
{
    Table_write(&cell, id, &row, display);
    return cell.text;
}

static void set_up(void)
{
    Record_clear(function_record(), &function);
    Row_init(&row, function.id);
    row.now = &function;
}

TEST_WITH(test_null_is_blank_everywhere, set_up, NULL)
{
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (i != COLUMN_TREND)
            assert_string_equal(says((enum ColumnId)i, &cycles), "");
    assert_string_equal(says(COLUMN_TREND, &cycles), "········");
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (i != COLUMN_STATE)
            assert_true(isnan(COLUMNS[i].key(&row)));
}

// Without hooks, calls are not timed. So the order must not depend on timed
// cycles alone.
TEST_WITH(test_time_in_the_dark, set_up, NULL)
{
    function.calls = 500;
    function.calls_exact = 1;
    function.avg_cycles = 2000;
    function.self_cycles = 900000;
    function.total_cycles = 1500000;
    function.waited_cycles = 4000;
    function.run_samples = 100;
    assert_string_equal(says(COLUMN_SELF, &cycles), "900k");
    assert_string_equal(says(COLUMN_TOTAL, &cycles), "1.5M");
    assert_string_equal(says(COLUMN_WAITED, &cycles), "4.0k");
    // A callee had no hooks for most of the function's time.
    function.self_cycles = 400000;
    assert_string_equal(says(COLUMN_SELF, &cycles), "~1.0M");
    assert_string_equal(says(COLUMN_TOTAL, &cycles), "1.5M");
    function.self_cycles = NULL_U64;
    assert_string_equal(says(COLUMN_SELF, &cycles), "~1.0M");
    function.self_cycles = 900000;
    function.calls_exact = 0;
    assert_string_equal(says(COLUMN_SELF, &cycles), ">=900k");
    assert_string_equal(says(COLUMN_TOTAL, &cycles), ">=1.5M");
    assert_string_equal(says(COLUMN_WAITED, &cycles), ">=4.0k");
    function.calls_estimated = 1.2e6;
    assert_string_equal(says(COLUMN_SELF, &cycles), "~2.4G");
    assert_string_equal(says(COLUMN_SELF, &times), "~1.2s");
    assert_string_equal(says(COLUMN_TOTAL, &cycles), ">=2.4G");
    assert_true(Column_key(COLUMN_SELF, &row, false) == 2.4e9);
    // If the number of calls has an error, the time stays the same.
    function.calls_error = 0.3;
    assert_string_equal(says(COLUMN_SELF, &cycles), "~2.4G");
    assert_string_equal(says(COLUMN_CALLS, &cycles), ">=500");
    function.calls_error = 0.1;
    assert_string_equal(says(COLUMN_CALLS, &cycles), "~1.2M");
    function.calls_error = NAN; // an older version of Ocular does not report
                                // calls_error
    assert_string_equal(says(COLUMN_CALLS, &cycles), "~1.2M");
    function.run_samples = 3;
    function.calls_estimated = 1.234e6;
    assert_string_equal(says(COLUMN_SELF, &cycles), "~2.0G");
    assert_int_equal(cell.style, STYLE_FAINT);
    Row_reset(&row); // 1000 calls follow.
    function.calls_estimated = 1.235e6;
    function.run_samples = 100;
    assert_string_equal(says(COLUMN_SELF, &cycles), "~2.0M");
}

// The cost of hooks is known to 20 ns, which are 40 cycles at 2 GHz.
TEST_WITH(test_too_short_to_be_told, set_up, NULL)
{
    static const struct Display unknown = {true, false, NAN};
    static const enum ColumnId of_a_call[] = {COLUMN_MIN, COLUMN_P50,
                                              COLUMN_P99};
    for (size_t i = 0; i < sizeof of_a_call / sizeof *of_a_call; i++) {
        enum ColumnId id = of_a_call[i];
        function.min_cycles = function.p50_cycles = function.p99_cycles = 0;
        assert_string_equal(says(id, &cycles), "<40");
        assert_string_equal(says(id, &times), "<20ns");
        assert_string_equal(says(id, &unknown), "0");
        function.min_cycles = function.p50_cycles = function.p99_cycles = 39.9;
        assert_string_equal(says(id, &cycles), "<40");
        function.min_cycles = function.p50_cycles = function.p99_cycles = 40;
        assert_string_equal(says(id, &cycles), "40");
        assert_string_equal(says(id, &times), "20ns");
    }
    function.avg_cycles = 12; // The mean of many calls is exact.
    assert_string_equal(says(COLUMN_AVG, &cycles), "12");
    function.avg_cycles = 0; // Too short.
    assert_string_equal(says(COLUMN_AVG, &cycles), "<40");
    assert_string_equal(says(COLUMN_AVG, &times), "<20ns");
    // The cost of the events of a C function is known to some 100 cycles.
    function.file = "<C function>";
    function.avg_cycles = function.p50_cycles = 299;
    function.p99_cycles = 300;
    assert_string_equal(says(COLUMN_AVG, &cycles), "<300");
    assert_string_equal(says(COLUMN_P50, &times), "<150ns");
    assert_string_equal(says(COLUMN_P99, &cycles), "300");
    // From samples, a shorter mean can be known.
    function.avg_estimated = true;
    function.run_samples = 100;
    assert_string_equal(says(COLUMN_AVG, &cycles), "~299");
}

// The window has 100 samples of a whole core, so one sample stands for 1 %.
TEST_WITH(test_few_samples, set_up, NULL)
{
    row.window = (struct Window){30, 100, 100};
    function.share = function.cpu_share = .314;
    assert_string_equal(says(COLUMN_SHARE, &cycles), "31.4%");
    assert_int_equal(cell.style, STYLE_HEAT_5);
    // This share comes from three samples.
    function.share = function.cpu_share = .034;
    assert_string_equal(says(COLUMN_SHARE, &cycles), "3%");
    assert_int_equal(cell.style, STYLE_FAINT);
    function.share = function.cpu_share = .004;
    assert_string_equal(says(COLUMN_SHARE, &cycles), "<1%");
    // The next share is less than one sample, because the weight of a sample
    // decreases with its age.
    function.share = function.cpu_share = .001;
    assert_string_equal(says(COLUMN_SHARE, &cycles), "");
    function.share = function.cpu_share = 0;
    assert_string_equal(says(COLUMN_SHARE, &cycles), "");
    function.wait_share = function.c_share = function.total_share = 0;
    assert_string_equal(says(COLUMN_WAIT_SHARE, &cycles), "");
    assert_string_equal(says(COLUMN_C_SHARE, &cycles), "");
    assert_string_equal(says(COLUMN_TOTAL_SHARE, &cycles), "");
}

// If calls are counted in slices, their number is an estimate. With an error
// above a quarter, this number has one digit. With an error above a half, it is
// only a lower bound.
TEST_WITH(test_calls_counted_in_slices, set_up, NULL)
{
    function.calls = 564;
    function.calls_exact = 0;
    function.calls_estimated = 34567;
    function.calls_per_s_error = 100;
    function.calls_error = 0.2;
    assert_string_equal(says(COLUMN_CALLS, &cycles), "~35k");
    assert_int_equal(cell.style, STYLE_PLAIN);
    function.calls_error = 0.3;
    assert_string_equal(says(COLUMN_CALLS, &cycles), "~30k");
    assert_int_equal(cell.style, STYLE_FAINT);
    function.calls_error = 0.6;
    assert_string_equal(says(COLUMN_CALLS, &cycles), ">=564");
    row.base.calls = 564;
    assert_string_equal(says(COLUMN_CALLS, &cycles), "");
    row.base.calls = 0;
    // The error is relative to all calls, of which 10k were made since the
    // reset.
    function.calls_error = 0.1;
    row.base.estimated = 24567;
    assert_string_equal(says(COLUMN_CALLS, &cycles), "~10k");
    assert_int_equal(cell.style, STYLE_FAINT);
}

TEST_WITH(test_estimates_from_few_samples, set_up, NULL)
{
    row.window = (struct Window){30, 100, 100};
    function.share = function.cpu_share = .2;
    function.calls_per_s = 1234;
    function.rate_estimated = 1;
    assert_string_equal(says(COLUMN_RATE, &cycles), "~1.2k");
    assert_int_equal(cell.style, STYLE_PLAIN);
    function.share = function.cpu_share = .05;
    assert_string_equal(says(COLUMN_RATE, &cycles), "~1.0k");
    assert_int_equal(cell.style, STYLE_FAINT);
    function.wait_share = .5; // 60 samples found it waiting
    assert_string_equal(says(COLUMN_RATE, &cycles), "~1.2k");
    function.calls_error = 0.2;
    assert_string_equal(says(COLUMN_RATE, &cycles), "~1.2k");
    function.calls_error = 0.3; // too few timed calls
    assert_string_equal(says(COLUMN_RATE, &cycles), "~1.0k");
    assert_int_equal(cell.style, STYLE_FAINT);
    function.calls_error = 0.6;
    assert_string_equal(says(COLUMN_RATE, &cycles), "");
    // A rate from slices does not depend on the number of samples.
    function.calls_per_s_error = 100;
    assert_string_equal(says(COLUMN_RATE, &cycles), "~1.2k");
    assert_int_equal(cell.style, STYLE_PLAIN);
    function.calls_per_s_error = 700;
    assert_string_equal(says(COLUMN_RATE, &cycles), "~1.0k");
    assert_int_equal(cell.style, STYLE_FAINT);
    function.calls_per_s_error = NAN;
    function.share = function.cpu_share = function.wait_share = 0;
    function.calls_error = NAN;
    assert_string_equal(says(COLUMN_RATE, &cycles), "");
    // Now the rate was counted.
    function.rate_estimated = 0;
    function.calls_error = 0.6;
    assert_string_equal(says(COLUMN_RATE, &cycles), "1.2k");
    function.calls_error = NAN;
    // The number of calls since the start comes from all samples of the run.
    function.calls = 10;
    function.calls_exact = 0;
    function.calls_estimated = 4567;
    function.avg_cycles = 378;
    function.avg_estimated = 1;
    function.run_samples = 50;
    assert_string_equal(says(COLUMN_CALLS, &cycles), "~4.6k");
    assert_string_equal(says(COLUMN_AVG, &cycles), "~378");
    function.run_samples = 3;
    assert_string_equal(says(COLUMN_CALLS, &cycles), "~5.0k");
    assert_int_equal(cell.style, STYLE_FAINT);
    assert_string_equal(says(COLUMN_AVG, &cycles), "~400");
    assert_int_equal(cell.style, STYLE_FAINT);
    function.run_samples = 0;
    function.calls_estimated = 10;
    assert_string_equal(says(COLUMN_CALLS, &cycles), ">=10");
    assert_string_equal(says(COLUMN_AVG, &cycles), "");
}

TEST_WITH(test_cells_fit_their_columns, set_up, NULL)
{
    for (double value = .0004; value < 1.8e19; value *= 1.37) {
        uint64_t whole = (uint64_t)value;
        function.calls = function.self_cycles = function.total_cycles = whole;
        function.waited_cycles = function.sites = whole;
        function.dark_sites = whole / 3;
        function.calls_per_s = function.avg_cycles = value;
        function.min_cycles = function.p50_cycles = value;
        function.p99_cycles = function.age_s = value;
        function.share = function.c_share = function.wait_share = value;
        function.total_share = function.run_share = value;
        function.state = whole % 3;
        function.calls_exact = 0;
        function.specialized_sites = function.specializable_sites = whole;
        function.wall_p50_s = function.wall_p99_s = value / 1e5;
        function.wall_max_s = function.await_s = value / 1e3;
        function.in_flight = whole / 2;
        function.oldest_s = value;
        function.raised = whole;
        function.raised_estimated = 1;
        for (int i = 0; i < COLUMN_FUNCTION; i++) {
            const struct Display *display = whole & 1 ? &times : &cycles;
            int width = Text_width(says((enum ColumnId)i, display));
            if (width > TABLE[i].width)
                print_error("%s: \"%s\"\n", COLUMNS[i].name, cell.text);
            assert_true(width <= TABLE[i].width);
        }
    }
}

TEST_WITH(test_raised_exceptions, set_up, NULL)
{
    assert_string_equal(says(COLUMN_RAISED, &cycles), "");
    function.raised = 15300;
    function.raised_estimated = 0;
    assert_string_equal(says(COLUMN_RAISED, &cycles), "15k");
    assert_int_equal(cell.style, STYLE_PLAIN);
    function.raised_estimated = 1;
    assert_string_equal(says(COLUMN_RAISED, &cycles), "~15k");
    function.raised_estimated = 0;
    Row_reset(&row);
    assert_string_equal(says(COLUMN_RAISED, &cycles), "0");
    assert_int_equal(cell.style, STYLE_FAINT);
    function.raised += 3;
    assert_string_equal(says(COLUMN_RAISED, &cycles), "3");
    assert_float_equal(Column_key(COLUMN_RAISED, &row, false), 3, 0);
}

TEST_WITH(test_a_call_that_hangs, set_up, NULL)
{
    static const struct {
        double oldest, p99, max;
        uint64_t calls, in_flight;
        double uptime;
        bool hangs;
    } cases[] = {
        {1.1, .01, .02, 19, 1, 0, true},
        {.9, .01, .02, 19, 1, 0, false}, // This call can end soon.
        {1.1, .2, .3, 19, 1, 0,
         false}, // This call is not much longer than P99.
        {2.1, .2, .3, 19, 1, 0, true},
        {2.1, NAN, 1.9, 19, 1, 0, true},
        {2.1, NAN, 2.2, 19, 1, 0, false}, // An earlier call took just as long.
        {2.1, NAN, NAN, 19, 1, 0, false},
        // P99 says little if few calls have ended, as with a main loop or the
        // threads of a pool.
        {600, .01, .02, 9, 1, 0, false},
        {600, .01, .02, 12, 3, 0, false},
        // A main loop begins soon after tracing, and no hook has seen the call
        // that only a stack has shown.
        {600, .01, .02, 9, 1, 606, true},
        {600, NAN, NAN, 1, 1, 604, false},
        {600, NAN, NAN, 1, 2, 606, false},
        {4.9, NAN, NAN, 1, 1, 606, false},
        {5.1, NAN, NAN, 1, 1, 606, true},
        {NAN, .01, .02, 19, 0, 606, false},
        {NAN, .01, .02, 19, NULL_U64, 0, false},
    };
    struct PartShares parts = {.waits[WAITS_SOCKET] = .93};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        function.oldest_s = cases[i].oldest;
        function.wall_p99_s = cases[i].p99;
        function.wall_max_s = cases[i].max;
        function.calls = cases[i].calls;
        function.in_flight = cases[i].in_flight;
        function.file = "main.py";
        row.uptime_s = cases[i].uptime;
        assert_int_equal(Row_hangs(&row), cases[i].hangs);
        says(COLUMN_OLDEST, &cycles);
        assert_int_equal(strchr(cell.text, '!') != NULL, cases[i].hangs);
        assert_int_equal(cell.style == STYLE_ALERT, cases[i].hangs);
    }
    // A main loop that begins late is idle, has hits, or calls what runs.
    function.oldest_s = function.age_s = row.uptime_s = 30;
    row.uptime_s += 6;
    function.calls = function.in_flight = 1;
    function.wall_p99_s = function.wall_max_s = NAN;
    function.total_share = .93;
    function.total_parts = &parts;
    function.total_part_count = 1;
    assert_true(Row_hangs(&row));
    function.age_s = 2;
    assert_false(Row_hangs(&row));
    function.age_s = 30;
    parts.waits[WAITS_SOCKET] = .17;
    parts.waits[WAITS_IDLE] = .76;
    assert_false(Row_hangs(&row));
    parts.waits[WAITS_SOCKET] = .91;
    parts.waits[WAITS_IDLE] = 0;
    assert_false(Row_hangs(&row));
    function.cpu_share = .015; // Most of what runs is its own code.
    assert_true(Row_hangs(&row));
    // The calls in flight are not among the counted calls, so ten have ended.
    function.wall_p99_s = .01;
    function.calls = 12;
    function.in_flight = 30;
    function.oldest_s = 5;
    assert_false(Row_hangs(&row));
    function.in_flight_is_least = 1;
    assert_true(Row_hangs(&row));
}

// The CPU time of a call is computed from the samples of the whole run.
TEST_WITH(test_cpu_of_a_call, set_up, NULL)
{
    function.calls = 500;
    function.calls_exact = 1;
    assert_string_equal(says(COLUMN_CPU, &cycles), "");
    row.cpu_s = 1;
    row.cpu_samples = 100;
    assert_string_equal(says(COLUMN_CPU, &cycles), "~2.0ms");
    assert_int_equal(cell.style, STYLE_PLAIN);
    Row_reset(&row);
    assert_string_equal(says(COLUMN_CPU, &cycles), "~2.0ms");
    row.cpu_s = 1.234;
    row.cpu_samples = 9;
    assert_string_equal(says(COLUMN_CPU, &cycles), "~2.0ms");
    assert_int_equal(cell.style, STYLE_FAINT);
    function.calls_exact = 0;
    function.calls_estimated = 1e6;
    assert_string_equal(says(COLUMN_CPU, &cycles), "~1.0µs");
    function.calls_error = .6;
    assert_string_equal(says(COLUMN_CPU, &cycles), "");
    function.calls_error = .1;
    row.cpu_s = row.cpu_samples = 0; // No sample has found the function.
    assert_string_equal(says(COLUMN_CPU, &cycles), "");
    for (row.cpu_s = .001; row.cpu_s < 1e12; row.cpu_s *= 1.37)
        for (row.cpu_samples = 1; row.cpu_samples < 99; row.cpu_samples *= 20)
            assert_true(Text_width(says(COLUMN_CPU, &cycles)) <=
                        TABLE[COLUMN_CPU].width);
}

TEST_WITH(test_changes_since_a_baseline, set_up, NULL)
{
    const struct Display display = {.baseline = true, .tsc_hz = 2e9};
    struct Display time = {.ns = true, .baseline = true, .tsc_hz = 2e9};
    function.share = .314;
    function.avg_cycles = 400;
    function.calls = 1500;
    function.calls_exact = 1;
    // The function was not in the snapshot at the baseline. So its share at the
    // baseline was 0, and its mean has no change.
    assert_string_equal(says(COLUMN_SHARE, &display), "+31.4%");
    assert_int_equal(cell.style, STYLE_HEAT_4);
    assert_string_equal(says(COLUMN_AVG, &display), "");
    assert_string_equal(says(COLUMN_CALLS, &display), "+1.5k");
    assert_int_equal(cell.style, STYLE_PLAIN);
    row.mark[COLUMN_SHARE] = .4;
    row.mark[COLUMN_AVG] = 300;
    row.mark[COLUMN_CALLS] = 1500;
    assert_string_equal(says(COLUMN_SHARE, &display), "-8.6%");
    assert_int_equal(cell.style, STYLE_ARMED);
    assert_string_equal(says(COLUMN_AVG, &display), "+100");
    assert_string_equal(says(COLUMN_AVG, &time), "+50ns");
    assert_string_equal(says(COLUMN_CALLS, &display), "0");
    assert_true(Column_key(COLUMN_AVG, &row, true) == 100);
    assert_true(Column_key(COLUMN_AVG, &row, false) == 400);
    function.wall_p99_s = .5;
    assert_string_equal(says(COLUMN_WALL_P99, &display), "");
    row.mark[COLUMN_WALL_P99] = .4;
    assert_string_equal(says(COLUMN_WALL_P99, &display), "+100ms");
    assert_int_equal(cell.style, STYLE_HEAT_4);
    function.in_flight = 12; // The number grows, as with a leak of tasks.
    row.mark[COLUMN_IN_FLIGHT] = 4;
    assert_string_equal(says(COLUMN_IN_FLIGHT, &display), "+8");
    function.self_cycles = 600900; // A sum always grows, so it has no colour.
    row.mark[COLUMN_SELF] = 600200;
    assert_string_equal(says(COLUMN_SELF, &display), "+700");
    assert_int_equal(cell.style, STYLE_PLAIN);
    function.specializable_sites = 10; // more is better here
    function.specialized_sites = 8;
    row.mark[COLUMN_SPEC] = .5;
    assert_string_equal(says(COLUMN_SPEC, &display), "+30.0%");
    assert_int_equal(cell.style, STYLE_ARMED);
    row.mark[COLUMN_SPEC] = .9;
    assert_string_equal(says(COLUMN_SPEC, &display), "-10.0%");
    assert_int_equal(cell.style, STYLE_HEAT_4);
    row.mark[COLUMN_SHARE] = .31401;
    assert_string_equal(says(COLUMN_SHARE, &display),
                        "0.0%"); // a change of zero has no sign
    function.share = NAN;
    assert_string_equal(says(COLUMN_SHARE, &display), "");
    row.window = (struct Window){30, 100, 100};
    row.mark[COLUMN_SHARE] = .3;
    function.share = .334;
    assert_string_equal(says(COLUMN_SHARE, &display), "+3%");
    assert_int_equal(cell.style, STYLE_FAINT);
    function.share = .306; // less than one sample
    assert_string_equal(says(COLUMN_SHARE, &display), "0.0%");
    row.mark[COLUMN_SHARE] = function.share = 0;
    assert_string_equal(says(COLUMN_SHARE, &display), "");
    row.window = Window_unknown();
    // Every text of a change fits its column.
    double sizes[] = {1e-9, .0123, .9999, 9.999, 12.34, 999.9};
    for (int i = 0; i < 6; i++) {
        row.mark[COLUMN_SHARE] = 0;
        function.share = sizes[i] < 10 ? sizes[i] : 9.99;
        says(COLUMN_SHARE, &display);
        assert_true(Text_width(cell.text) <= TABLE[COLUMN_SHARE].width);
        row.mark[COLUMN_AVG] = 0;
        function.avg_cycles = sizes[i] * 1e9;
        says(COLUMN_AVG, &display);
        assert_true(Text_width(cell.text) <= TABLE[COLUMN_AVG].width);
        says(COLUMN_AVG, &time);
        assert_true(Text_width(cell.text) <= TABLE[COLUMN_AVG].width);
    }
}
