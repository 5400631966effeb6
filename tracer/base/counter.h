// SPDX-License-Identifier: MIT
// A counter_t has one writer at a time and any number of readers. A reader can
// see a value that does not include the newest hit. The writer holds the
// counting lock (tracer/hook/counting.h) or the GIL. Adding to a counter_t is
// therefore a relaxed load and a relaxed store, without a locked instruction.
// Some fields of the type counter_t do not count but hold a time in ticks, an
// id or the bits of a double, under the same rules for writers and readers.
#pragma once

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

typedef _Atomic uint64_t counter_t;

static inline uint64_t Counter_get(const counter_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

// Returns a sum of cycles, or 0 if the sum is negative. The hooks' cost, which
// is subtracted from the cycles, has an error of a few ticks. The sum of a few
// short times can therefore be negative.
static inline uint64_t Counter_cycles(const counter_t *counter)
{
    uint64_t value = Counter_get(counter);

    return value > INT64_MAX ? 0 : value;
}

// Returns the value of a counter to its only writer. The compiler may keep the
// value in a register, because no other thread changes the counter.
static inline uint64_t Counter_own(const counter_t *counter)
{
    return *(const uint64_t *)counter;
}

static inline void Counter_set(counter_t *counter, uint64_t value)
{
    atomic_store_explicit(counter, value, memory_order_relaxed);
}

// Adds `amount` to the counter and returns the new value.
static inline uint64_t Counter_add(counter_t *counter, uint64_t amount)
{
    uint64_t value = Counter_get(counter) + amount;

    Counter_set(counter, value);
    return value;
}

// Returns the value of a counter that holds the bits of a double.
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
