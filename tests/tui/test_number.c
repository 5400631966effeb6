// SPDX-License-Identifier: MIT
// Tests that numbers have the right unit at every boundary between two units,
// and are never too wide.
#include "tui/text/number.h"

#include <math.h>
#include <string.h>

#include "tests/unit.h"

#define SAYS(call, text)                                                       \
    do {                                                                       \
        char out[NUMBER_MAX];                                                  \
        assert_string_equal(call, text);                                       \
    } while (0)

TEST(test_count)
{
    SAYS(Number_count(out, 0), "0");
    SAYS(Number_count(out, 999), "999");
    SAYS(Number_count(out, 999.4), "999");
    SAYS(Number_count(out, 999.6), "1.0k");
    SAYS(Number_count(out, 1234), "1.2k");
    SAYS(Number_count(out, 9949), "9.9k");
    SAYS(Number_count(out, 9951), "10k");
    SAYS(Number_count(out, 310e3), "310k");
    SAYS(Number_count(out, 999.4e3), "999k");
    SAYS(Number_count(out, 999.6e3), "1.0M");
    SAYS(Number_count(out, 3.2e12), "3.2T");
    SAYS(Number_count(out, 1.8446744e19), "18E");
    SAYS(Number_count(out, -1500), "-1.5k");
    SAYS(Number_count(out, -.2), "0");
    SAYS(Number_count(out, NAN), "-");
    SAYS(Number_count(out, INFINITY), "-");
}

TEST(test_rate_and_time)
{
    SAYS(Number_rate(out, .3), "0.3");
    SAYS(Number_rate(out, 4), "4");
    SAYS(Number_rate(out, 12.3), "12");
    SAYS(Number_rate(out, 1.2e6), "1.2M");
    SAYS(Number_ns(out, 390), "390ns");
    SAYS(Number_ns(out, 3.25), "3.2ns");
    SAYS(Number_ns(out, 1234), "1.2\u00B5s");
    SAYS(Number_ns(out, 56e6), "56ms");
    SAYS(Number_ns(out, 2e9), "2.0s");
    SAYS(Number_ns(out, 7200e9), "2h");
    SAYS(Number_ns(out, NAN), "-");
}

TEST(test_percent)
{
    SAYS(Number_percent(out, .314), "31.4%");
    SAYS(Number_percent(out, 0), "0.0%");
    SAYS(Number_percent(out, .9994), "99.9%");
    SAYS(Number_percent(out, .9996), "100%");
    SAYS(Number_percent(out, 3.12), "312%");
    SAYS(Number_percent(out, 1e300), ">9999%");
    SAYS(Number_percent(out, NAN), "-");
}

TEST(test_ages)
{
    SAYS(Number_age(out, .9), "now");
    SAYS(Number_age(out, -5), "now");
    SAYS(Number_age(out, 61), "61s");
    SAYS(Number_age(out, 99.4), "99s");
    SAYS(Number_age(out, 99.6), "2m");
    SAYS(Number_age(out, 7200), "2h");
    SAYS(Number_age(out, 1e6), "12d");
    SAYS(Number_age(out, 1e8), "3y");
    SAYS(Number_age(out, 1e300), "999y");
    SAYS(Number_age(out, NAN), "-");
    SAYS(Number_uptime(out, 8049), "2:14:09");
    SAYS(Number_uptime(out, 3 * 86400 + 61), "3d 00:01:01");
    SAYS(Number_uptime(out, NAN), "-");
    SAYS(Number_uptime(out, 1e300), "-");
    SAYS(Number_seconds(out, .5), "0.5s");
    SAYS(Number_seconds(out, 10), "10s");
}

TEST(test_bytes_and_groups)
{
    SAYS(Number_bytes(out, 0), "0 B");
    SAYS(Number_bytes(out, 1023), "1023 B");
    SAYS(Number_bytes(out, 1024), "1.0 KiB");
    SAYS(Number_bytes(out, 12.3 * 1048576), "12.3 MiB");
    SAYS(Number_grouped(out, 7), "7");
    SAYS(Number_grouped(out, 1204), "1 204");
    SAYS(Number_grouped(out, 1234567), "1 234 567");
    SAYS(Number_grouped(out, UINT64_MAX), "-");
}

// A number must not be wider than its column of six or seven cells.
TEST(test_width)
{
    char out[NUMBER_MAX];
    for (double value = 1e-3; value < 1e20; value *= 1.013) {
        assert_true(strlen(Number_count(out, value)) <= 4);
        assert_true(strlen(Number_rate(out, value)) <= 4);
        // Six bytes are allowed, because the micro sign takes two.
        assert_true(strlen(Number_ns(out, value)) <= 6);
        assert_true(strlen(Number_percent(out, value)) <= 6);
        assert_true(strlen(Number_age(out, value)) <= 5);
    }
}
