// SPDX-License-Identifier: MIT
// Counts cycles in a histogram with a logarithmic scale. The histogram has
// sixteen buckets for each octave (factor of 2), so a quantile has an error of
// about 3 %. The writer of a histogram holds the counting lock. Any thread may
// read a histogram, as counter.h explains.
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#define HISTOGRAM_SUB 16 // Number of buckets for each octave.
// Number of values. With half as many values, a histogram gives no useful 99th
// percentile.
#define HISTOGRAM_FEW 400
// Number of buckets, which are for values up to 2^40. The last bucket also
// counts all larger values.
#define HISTOGRAM_BUCKETS 592

struct Histogram {
    _Atomic uint16_t buckets[HISTOGRAM_BUCKETS];
};

// Returns the index of the bucket to which a value belongs. Below index 32,
// only one value belongs to each bucket. From index 32 on, each octave has
// HISTOGRAM_SUB buckets.
static inline unsigned Histogram_bucket(uint64_t value)
{
    unsigned shift, bucket;

    if (value < 2 * HISTOGRAM_SUB)
        return (unsigned)value;
    shift = 59u - (unsigned)__builtin_clzll(value);
    bucket = shift * HISTOGRAM_SUB + (unsigned)(value >> shift);
    return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

// Forgets half of all values, so that the quantiles follow the newest values,
// or before a bucket overflows.
// Of the values that are alone in their buckets, Histogram_age forgets every
// second one. A histogram with fewer than HISTOGRAM_FEW values does not change.
// Only the writer of the histogram may call Histogram_age.
void Histogram_age(struct Histogram *histogram);

static inline void Histogram_add(struct Histogram *histogram, uint64_t value)
{
    _Atomic uint16_t *bucket = &histogram->buckets[Histogram_bucket(value)];
    unsigned count = atomic_load_explicit(bucket, memory_order_relaxed) + 1u;

    atomic_store_explicit(bucket, (uint16_t)count, memory_order_relaxed);
    if (__builtin_expect(count == UINT16_MAX, 0))
        Histogram_age(histogram);
}

uint64_t Histogram_count(const struct Histogram *histogram);
// Stores the quantiles q[0..count) (0 < q <= 1) in values[0..count). A quantile
// is interpolated within its bucket, and is NaN if the histogram is empty. Most
// of the time is spent on reading the buckets, so one call should ask for all
// quantiles.
void Histogram_quantiles(const struct Histogram *histogram, const double *q,
                         double *values, unsigned count);
// Returns the standard deviation of the values divided by their mean, or NaN if
// the histogram is empty.
double Histogram_spread(const struct Histogram *histogram);
