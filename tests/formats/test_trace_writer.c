// SPDX-License-Identifier: MIT
// Tests the functions that both formats share, with clocks of many rates and
// names that contain any bytes.
#include "formats/trace_writer.h"

#include "tests/unit.h"

static struct TraceWriter writer;

static uint64_t ns_of(double hz, uint64_t start, uint64_t ticks)
{
    static struct PerfettoTrace trace;

    trace.hz = hz;
    trace.start_ticks = start;
    TraceWriter_init(&writer, &trace);
    return TraceWriter_ns(&writer, ticks);
}

TEST(ticks_of_a_nanosecond_are_exact)
{
    const uint64_t most = (UINT64_C(1) << 60) - 1;

    assert_int_equal(ns_of(1e9, 0, 0), 0);
    assert_int_equal(ns_of(1e9, 0, 1), 1);
    assert_int_equal(ns_of(1e9, 5000, 12345), 7345);
    assert_int_equal(ns_of(1e9, 0, most), most);
    assert_int_equal(ns_of(2e9, 0, 2001), 1000);
    assert_int_equal(ns_of(0, 0, 77), 77); // This recording has no clock.
}

TEST(whole_nanoseconds_of_other_clocks_are_whole)
{
    const uint64_t day = 86400;

    assert_int_equal(ns_of(2.5e9, 0, 5), 2);
    assert_int_equal(ns_of(2.5e9, 0, 2500000000 * day), 1000000000 * day);
    assert_int_equal(ns_of(24e6, 0, 24000000 * day), 1000000000 * day);
    assert_int_equal(ns_of(24e6, 0, 1), 41);
    assert_int_equal(ns_of(3e9, 0, 3000000000 * day - 1), 1000000000 * day - 1);
    assert_int_equal(ns_of(1e6, 0, 7), 7000);
}

TEST(what_was_before_the_start_is_at_the_start)
{
    assert_int_equal(ns_of(1e9, 5000, 10), 0);
    assert_int_equal(ns_of(1e9, UINT64_MAX, 0), 0);
}
