// SPDX-License-Identifier: MIT
// A quantile that is computed while the writer adds a value can lack this
// value. A reader can find some buckets halved and others not yet halved, which
// the next reading corrects.
#include "tracer/base/histogram.h"

#include <math.h>

static uint64_t at(const struct Histogram *histogram, unsigned bucket)
{
    return atomic_load_explicit(&histogram->buckets[bucket],
                                memory_order_relaxed);
}

void Histogram_age(struct Histogram *histogram)
{
    uint64_t total = Histogram_count(histogram);
    // If a bucket has an odd number of values, half a value is carried over to
    // the next bucket. If half of the total is odd, half a value is carried
    // into the first bucket. Without this half value, a single value in the
    // lowest bucket would always be forgotten.
    unsigned half = total / 2 % 2;

    if (total < HISTOGRAM_FEW)
        return;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        unsigned count = (unsigned)at(histogram, i) + half;

        half = count % 2;
        atomic_store_explicit(&histogram->buckets[i], (uint16_t)(count / 2),
                              memory_order_relaxed);
    }
}

// Returns the smallest value that belongs to the bucket.
static uint64_t floor_of(unsigned bucket)
{
    // The upper bound of a bucket is the floor of the next bucket, also for the
    // last bucket.
    if (bucket > HISTOGRAM_BUCKETS)
        bucket = HISTOGRAM_BUCKETS;
    if (bucket < 2 * HISTOGRAM_SUB)
        return bucket;
    return (uint64_t)(HISTOGRAM_SUB + bucket % HISTOGRAM_SUB)
           << (bucket / HISTOGRAM_SUB - 1);
}

uint64_t Histogram_count(const struct Histogram *histogram)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
        count += at(histogram, i);
    return count;
}

// Returns the value at `position` (0 to 1) between the smallest and the largest
// value that belong to a bucket. The largest value of a bucket is the next
// bucket's floor minus 1, so the result is exact if only one value belongs to
// the bucket.
static double within(unsigned bucket, double position)
{
    double least = (double)floor_of(bucket);
    double greatest = (double)floor_of(bucket + 1) - 1;

    return least + position * (greatest - least);
}

// The numbers in a histogram's buckets at one moment, with the first and the
// last bucket that is not empty.
struct Reading {
    uint16_t hits[HISTOGRAM_BUCKETS];
    unsigned first, last;
    uint32_t count;
};

static void read_all(struct Reading *reading, const struct Histogram *histogram)
{
    reading->first = HISTOGRAM_BUCKETS;
    reading->last = reading->count = 0;
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint16_t hits = (uint16_t)at(histogram, i);

        reading->hits[i] = hits;
        reading->count += hits;
        if (!hits)
            continue;
        reading->last = i;
        if (reading->first > i)
            reading->first = i;
    }
}

static double quantile(const struct Reading *reading, double q)
{
    double rank = fmin(fmax(q, 0), 1) * reading->count, below = 0;

    if (reading->count == 0 || isnan(q))
        return NAN;
    for (unsigned i = reading->first; i <= reading->last; i++) {
        double here = reading->hits[i];

        if (here > 0 && below + here >= rank)
            return within(i, (rank - below) / here);
        below += here;
    }
    // The loop can end only because of rounding errors.
    return within(reading->last, 1);
}

void Histogram_quantiles(const struct Histogram *histogram, const double *q,
                         double *values, unsigned count)
{
    struct Reading reading;

    // All quantiles are computed from one reading, because the writer could
    // halve the buckets between two readings.
    read_all(&reading, histogram);
    for (unsigned i = 0; i < count; i++)
        values[i] = quantile(&reading, q[i]);
}

double Histogram_spread(const struct Histogram *histogram)
{
    struct Reading reading;
    double sum = 0, squares = 0, mean;

    read_all(&reading, histogram);
    for (unsigned i = reading.first; i <= reading.last; i++) {
        double value = within(i, 0.5);

        sum += reading.hits[i] * value;
        squares += reading.hits[i] * value * value;
    }
    mean = sum / reading.count;
    return mean > 0
               ? sqrt(fmax(squares / reading.count - mean * mean, 0)) / mean
           : reading.count ? 0
                           : NAN;
}
