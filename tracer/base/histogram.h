// SPDX-License-Identifier: MIT
// Counts cycles in a histogram with a logarithmic scale. An octave has sixteen
// buckets, so a quantile has an error of about 3 %. The writer holds the
// counting lock. Any thread may read, as counter.h explains.
#ifndef OCULAR_TRACER_BASE_HISTOGRAM_H
#define OCULAR_TRACER_BASE_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#define HISTOGRAM_SUB 16  // buckets per octave
#define HISTOGRAM_FEW 400 // number of hits; half as many are too few for a p99
// buckets for values up to 2^40; the last bucket also has larger values
#define HISTOGRAM_BUCKETS 592

struct Histogram {
    _Atomic uint16_t buckets[HISTOGRAM_BUCKETS];
};

// Returns the bucket of a value. A bucket below 32 holds one value. Above 32,
// each octave has HISTOGRAM_SUB buckets.
static inline unsigned Histogram_bucket(uint64_t value)
{
    unsigned shift, bucket;

    if (value < 2 * HISTOGRAM_SUB)
        return (unsigned)value;
    shift = 59u - (unsigned)__builtin_clzll(value);
    bucket = shift * HISTOGRAM_SUB + (unsigned)(value >> shift);
    return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

// Halves the number of hits of each bucket, before a bucket overflows. An odd
// number is rounded up, so a single hit stays and the quantiles hardly change.
// Only the writer may call this function.
void Histogram_halve(struct Histogram *histogram);
// Forgets half of all hits, so that the quantiles follow the newest hits. Of
// the hits that are alone in their buckets, the function forgets every second
// hit. A histogram with fewer than HISTOGRAM_FEW hits does not change. Only the
// writer may call this function.
void Histogram_age(struct Histogram *histogram);

static inline void Histogram_add(struct Histogram *histogram, uint64_t value)
{
    _Atomic uint16_t *bucket = &histogram->buckets[Histogram_bucket(value)];
    unsigned count = atomic_load_explicit(bucket, memory_order_relaxed) + 1u;

    atomic_store_explicit(bucket, (uint16_t)count, memory_order_relaxed);
    if (__builtin_expect(count == UINT16_MAX, 0))
        Histogram_halve(histogram);
}

// Returns the least value that belongs to the bucket.
uint64_t Histogram_floor(unsigned bucket);
uint64_t Histogram_count(const struct Histogram *histogram);
// Stores the quantiles q[0..count) (0 < q <= 1) in `values`. A quantile is
// interpolated within its bucket, and is NaN if the histogram is empty. Reading
// the buckets takes most of the time, so one call should ask for all quantiles.
void Histogram_quantiles(const struct Histogram *histogram, const double *q,
                         double *values, unsigned count);
// Returns the standard deviation divided by the mean, or NaN if the histogram
// is empty.
double Histogram_spread(const struct Histogram *histogram);

#endif
