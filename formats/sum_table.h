// SPDX-License-Identifier: MIT
// Sums by a pair of numbers: a function's time by its caller, a thread's by its
// functions, samples by instruction. It grows up to a bound, beyond which new
// pairs are left out, as a file may hold any number of them. One thread.
#ifndef OCULAR_FORMATS_SUM_TABLE_H
#define OCULAR_FORMATS_SUM_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define SUM_TABLE_MOST ((size_t)1 << 18) // pairs

struct Sum {
    uint64_t key; // Sum_key; 0: the place is free
    uint64_t calls;
    uint64_t samples;
    double ns, c_ns, total_ns; // of CPU time
    uint64_t what;             // the owner's, as the next one
    uint32_t stamp;
    uint32_t resumed; // calls that went on
};

struct SumTable { // zeroed: empty
    struct Sum *sums;
    size_t count;
    size_t room; // a power of two, or 0
};

// Of two numbers of which the first is not 0.
static inline uint64_t Sum_key(uint32_t first, uint32_t second)
{
    return (uint64_t)first << 32 | second;
}

static inline uint32_t Sum_first(const struct Sum *sum)
{
    return (uint32_t)(sum->key >> 32);
}

static inline uint32_t Sum_second(const struct Sum *sum)
{
    return (uint32_t)sum->key;
}

void SumTable_release(struct SumTable *table);
void SumTable_clear(struct SumTable *table); // keeps the memory
// The sum of that key, a new one at first. NULL: the bound is reached, or
// memory is out. Valid until the next call.
struct Sum *SumTable_get(struct SumTable *table, uint64_t key);
// Closes the gaps, and sorts by key. Then table->sums[0..count) may be read,
// and SumTable_get must not be called before SumTable_clear.
void SumTable_sort(struct SumTable *table);
// The sums of that first number in a sorted table, and how many there are.
const struct Sum *SumTable_of(const struct SumTable *table, uint32_t first,
                              size_t *count);

#endif
