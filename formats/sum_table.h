// SPDX-License-Identifier: MIT
// Implements a hash table of sums. The key of a sum is a pair of numbers, for
// example a callee and its caller, or a thread and a function. The table holds
// at most SUM_TABLE_MOST pairs, because a file may hold any number of pairs.
// One thread at a time uses a table.
#ifndef OCULAR_FORMATS_SUM_TABLE_H
#define OCULAR_FORMATS_SUM_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define SUM_TABLE_MOST ((size_t)1 << 18) // full tables refuse new pairs

struct Sum {
    uint64_t key; // the result of Sum_key; 0: this slot is free
    uint64_t calls;
    uint64_t samples;
    double ns, c_ns, total_ns; // nanoseconds of CPU time
    // The table's user decides what `what` and `stamp` mean.
    uint64_t what;
    uint32_t stamp;
    uint32_t resumed; // number of times that a call was resumed after a yield
};

struct SumTable { // zeroed: empty
    struct Sum *sums;
    size_t count;
    size_t room; // number of slots: a power of two, or 0
};

// Returns the key of two numbers. `first` must not be 0.
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
// Removes all sums and keeps the table's memory.
void SumTable_clear(struct SumTable *table);
// Returns the sum with this key. Adds a zeroed sum if the table has none with
// this key. Returns NULL if the table is full or memory is out. The pointer is
// valid until the next call of SumTable_get.
struct Sum *SumTable_get(struct SumTable *table, uint64_t key);
// Moves all sums to the front of table->sums and sorts the sums by key. After
// SumTable_sort, table->sums[0..count) may be read, and SumTable_clear must be
// called before the next call of SumTable_get.
void SumTable_sort(struct SumTable *table);
// Returns those sums of a sorted table whose keys have `first` as the first
// number. Sets *count to the number of these sums. Returns NULL if there are no
// such sums.
const struct Sum *SumTable_of(const struct SumTable *table, uint32_t first,
                              size_t *count);

#endif
