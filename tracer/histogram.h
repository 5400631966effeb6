// SPDX-License-Identifier: MIT
// A log-scale histogram of cycles: eight buckets an octave, so that a quantile
// read from it is within 5 % or so. One writer at a time (the interpreter's
// lock), any reader; see cell.h.
#ifndef OCULAR_TRACER_HISTOGRAM_H
#define OCULAR_TRACER_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#define HISTOGRAM_SUB 8       // buckets an octave
#define HISTOGRAM_BUCKETS 304 // values up to 2^40; larger ones in the last

struct Histogram {
    _Atomic uint32_t buckets[HISTOGRAM_BUCKETS];
};

// The bucket of a value: exact below 16, then HISTOGRAM_SUB an octave.
static inline unsigned Histogram_bucket(uint64_t value)
{
    unsigned shift, bucket;

    if (value < 2 * HISTOGRAM_SUB)
        return (unsigned)value;
    shift = 60u - (unsigned)__builtin_clzll(value);
    bucket = shift * HISTOGRAM_SUB + (unsigned)(value >> shift);
    return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

// Halves every bucket, so that none wraps: quantiles stay, weeks pass.
void Histogram_halve(struct Histogram *histogram);

static inline void Histogram_add(struct Histogram *histogram, uint64_t value)
{
    _Atomic uint32_t *bucket = &histogram->buckets[Histogram_bucket(value)];
    uint32_t count = atomic_load_explicit(bucket, memory_order_relaxed) + 1;

    atomic_store_explicit(bucket, count, memory_order_relaxed);
    if (__builtin_expect(count >> 31, 0))
        Histogram_halve(histogram);
}

// The least value that falls into a bucket.
uint64_t Histogram_floor(unsigned bucket);
uint64_t Histogram_count(const struct Histogram *histogram);
// The q-quantile (0 < q <= 1), interpolated within its bucket; NaN when empty.
double Histogram_quantile(const struct Histogram *histogram, double q);

#endif
