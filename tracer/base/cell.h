// SPDX-License-Identifier: MIT
// A counter with one writer at a time and readers that may be a hit behind.
// The interpreter's lock orders the writers, so an addition is a relaxed load
// and a relaxed store: plain moves, no locked instruction.
#ifndef OCULAR_TRACER_BASE_CELL_H
#define OCULAR_TRACER_BASE_CELL_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

typedef _Atomic uint64_t cell_t;

static inline uint64_t Cell_get(const cell_t *cell)
{
    return atomic_load_explicit(cell, memory_order_relaxed);
}

// Of cycles net of what hooks cost, which is known to some ticks only: a sum of
// a few short spans may come out below zero, and is as good as nothing.
static inline uint64_t Cell_cycles(const cell_t *cell)
{
    uint64_t value = Cell_get(cell);

    return value > INT64_MAX ? 0 : value;
}

// Cell_get for its only writer: a value once read may be kept in a register.
static inline uint64_t Cell_own(const cell_t *cell)
{
    return *(const uint64_t *)cell;
}

static inline void Cell_set(cell_t *cell, uint64_t value)
{
    atomic_store_explicit(cell, value, memory_order_relaxed);
}

// The new value.
static inline uint64_t Cell_add(cell_t *cell, uint64_t amount)
{
    uint64_t value = Cell_get(cell) + amount;

    Cell_set(cell, value);
    return value;
}

// A cell may hold a double's bits.
static inline double Cell_get_double(const cell_t *cell)
{
    uint64_t bits = Cell_get(cell);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline void Cell_set_double(cell_t *cell, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    Cell_set(cell, bits);
}

#endif
