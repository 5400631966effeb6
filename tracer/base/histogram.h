// SPDX-License-Identifier: MIT
// A log-scale histogram of cycles: sixteen buckets an octave, so that a
// quantile read from it is within 3 % or so. One writer at a time (the
// counting lock), any reader; see counter.h.
#ifndef OCULAR_TRACER_BASE_HISTOGRAM_H
#define OCULAR_TRACER_BASE_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#define HISTOGRAM_SUB 16      // buckets an octave
#define HISTOGRAM_FEW 400     // hits: half of them make no p99
#define HISTOGRAM_BUCKETS 592 // values up to 2^40; larger ones in the last

struct Histogram {
    _Atomic uint16_t buckets[HISTOGRAM_BUCKETS];
};

// The bucket of a value: exact below 32, then HISTOGRAM_SUB an octave.
static inline unsigned Histogram_bucket(uint64_t value)
{
    unsigned shift, bucket;

    if (value < 2 * HISTOGRAM_SUB)
        return (unsigned)value;
    shift = 59u - (unsigned)__builtin_clzll(value);
    bucket = shift * HISTOGRAM_SUB + (unsigned)(value >> shift);
    return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

// Both are the writer's. This one is for a bucket that would wrap: each is
// halved and rounded up, so that quantiles stay and rare values are not lost:
// half of one is one.
void Histogram_halve(struct Histogram *histogram);
// This one is to forget, so that quantiles become those of the hits from now
// on: half of all hits go, every other one of those that are alone in their
// bucket. Of fewer than HISTOGRAM_FEW none.
void Histogram_age(struct Histogram *histogram);

static inline void Histogram_add(struct Histogram *histogram, uint64_t value)
{
    _Atomic uint16_t *bucket = &histogram->buckets[Histogram_bucket(value)];
    unsigned count = atomic_load_explicit(bucket, memory_order_relaxed) + 1u;

    atomic_store_explicit(bucket, (uint16_t)count, memory_order_relaxed);
    if (__builtin_expect(count == UINT16_MAX, 0))
        Histogram_halve(histogram);
}

// The least value that falls into a bucket.
uint64_t Histogram_floor(unsigned bucket);
uint64_t Histogram_count(const struct Histogram *histogram);
// The q-quantiles (0 < q <= 1), interpolated within their buckets; NaN when
// empty. To read the buckets is most of it: ask for all at once.
void Histogram_quantiles(const struct Histogram *histogram, const double *q,
                         double *values, unsigned count);
// Their standard deviation, of their mean; NaN when empty.
double Histogram_spread(const struct Histogram *histogram);

#endif
