// SPDX-License-Identifier: MIT
// A counter with one writer at a time and readers that may be a hit behind. A
// lock orders the writers (that of counting, tracer/hook/counting.h, or the
// interpreter's), so an addition is a relaxed load and a relaxed store:
// ordinary moves, no locked instruction. Some hold another value than a count,
// under the same rules: a time in ticks, an id, the bits of a double.
#ifndef OCULAR_TRACER_BASE_COUNTER_H
#define OCULAR_TRACER_BASE_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

typedef _Atomic uint64_t counter_t;

static inline uint64_t Counter_get(const counter_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

// Of cycles net of the hooks' cost, which is known to some ticks only: a sum of
// a few short spans may come out below zero, and is as good as nothing.
static inline uint64_t Counter_cycles(const counter_t *counter)
{
    uint64_t value = Counter_get(counter);

    return value > INT64_MAX ? 0 : value;
}

// Counter_get for its only writer: a value once read may be kept in a register.
static inline uint64_t Counter_own(const counter_t *counter)
{
    return *(const uint64_t *)counter;
}

static inline void Counter_set(counter_t *counter, uint64_t value)
{
    atomic_store_explicit(counter, value, memory_order_relaxed);
}

// The new value.
static inline uint64_t Counter_add(counter_t *counter, uint64_t amount)
{
    uint64_t value = Counter_get(counter) + amount;

    Counter_set(counter, value);
    return value;
}

// The value of one that holds a double's bits.
static inline double Counter_get_double(const counter_t *counter)
{
    uint64_t bits = Counter_get(counter);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline void Counter_set_double(counter_t *counter, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    Counter_set(counter, bits);
}

#endif
