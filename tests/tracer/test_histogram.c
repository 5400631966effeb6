// SPDX-License-Identifier: MIT
// Tests tracer/base/histogram. The tests check counts and quantiles.
#include "tracer/base/histogram.h"

#include <math.h>
#include <string.h>

#include "tests/unit.h"

static double quantile(const struct Histogram *histogram, double q)
{
    double value;

    Histogram_quantiles(histogram, &q, &value, 1);
    return value;
}

TEST(test_odd_quantiles)
{
    struct Histogram histogram = {0};

    Histogram_add(&histogram, 3);
    Histogram_add(&histogram, 9);
    assert_true(isnan(quantile(&histogram, NAN)));
    assert_true(quantile(&histogram, -1) == 3);
    assert_true(quantile(&histogram, 0) == 3);
    assert_true(quantile(&histogram, 2) == 9);
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

// The values are from 50 to some millions, with evenly spread logarithms. The
// error of each quantile is at most about half a bucket.
TEST(test_quantiles_are_close)
{
    enum { COUNT = 20000 };
    static const double asked[] = {0.01, 0.1, 0.25, 0.5, 0.9, 0.99, 0.999};
    static uint64_t values[COUNT];
    double read[sizeof(asked) / sizeof(asked[0])];
    struct Histogram histogram = {0};

    srand48(1);
    for (int i = 0; i < COUNT; i++) {
        values[i] = (uint64_t)(50 * exp(drand48() * 11));
        Histogram_add(&histogram, values[i]);
    }
    qsort(values, COUNT, sizeof(values[0]), ascending);
    Histogram_quantiles(&histogram, asked, read,
                        sizeof(asked) / sizeof(*asked));
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        double exact = (double)values[(int)(asked[i] * COUNT) - 1];

        assert_true(fabs(read[i] / exact - 1) < 0.03);
    }
}

TEST(test_a_full_bucket_halves_all)
{
    struct Histogram histogram;

    memset(&histogram, 0, sizeof(histogram));
    histogram.buckets[3] = UINT16_MAX - 1;
    histogram.buckets[12] = 1000;
    histogram.buckets[14] = 1;
    Histogram_add(&histogram, 3);
    assert_int_equal(histogram.buckets[3], (1u << 15) - 1);
    assert_int_equal(histogram.buckets[12], 500);
    assert_int_equal(histogram.buckets[14], 1);
    Histogram_add(&histogram, 3);
    assert_int_equal(histogram.buckets[3], 1u << 15);
}

// A function becomes three times as slow. After the histogram was aged twice,
// the median is the new time.
TEST(test_quantiles_follow_a_cost_that_has_changed)
{
    struct Histogram histogram = {0};

    for (int i = 0; i < 50000; i++)
        Histogram_add(&histogram, i % 50 ? 1000 : 90000);
    for (int age = 0; age < 8; age++) {
        Histogram_age(&histogram);
        for (int i = 0; i < 1000; i++)
            Histogram_add(&histogram, i % 50 ? 1000 : 90000);
    }
    assert_true(fabs(quantile(&histogram, 0.5) / 1000 - 1) < 0.035);
    assert_true(fabs(quantile(&histogram, 0.99) / 90000 - 1) < 0.035);
    assert_true(fabs(quantile(&histogram, 0.97) / 1000 - 1) < 0.035);
    for (int age = 0; age < 2; age++) {
        Histogram_age(&histogram);
        for (int i = 0; i < 1000; i++)
            Histogram_add(&histogram, i % 50 ? 3000 : 90000);
    }
    assert_true(fabs(quantile(&histogram, 0.5) / 3000 - 1) < 0.035);
}
