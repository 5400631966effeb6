// SPDX-License-Identifier: MIT
// Holds sums of calls and CPU time. The key of a sum is a pair of numbers, for
// example of a callee and its caller, or of a thread and a function. The table
// holds at most SUM_TABLE_MOST pairs, because a forged file could contain any
// number of pairs. Only one thread at a time may use a struct SumTable.
#pragma once

#include "ipc/base/id_map.h"

// A table with SUM_TABLE_MOST pairs takes no new pairs.
#define SUM_TABLE_MOST ((size_t)1 << 18)

struct Sum {
    uint64_t key; // The result of Sum_key.
    uint64_t calls;
    uint64_t samples;
    double ns, c_ns, total_ns; // ns of CPU time.
    // The parts of total_ns in C functions and in the garbage collector.
    double total_c_ns, total_gc_ns;
    // Each user of a table gives its own meaning to `what` and `stamp`.
    uint64_t what;
    uint32_t stamp;
    // Number of times that a call of the function was resumed after a yield or
    // an await.
    uint32_t resumed;
};

struct SumTable {        // An empty struct has only zero bytes.
    struct IdMap places; // For each key, the index of its sum plus 1.
    struct Sum *sums;
    size_t count, room;
};

// Returns the key for a pair of numbers. `first` must not be 0.
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
// Returns the sum with the key `key`. If the table has no sum with this key,
// adds a sum of zeros. Returns NULL if the table is full or memory is out. The
// returned pointer is valid until the next call of SumTable_get.
struct Sum *SumTable_get(struct SumTable *table, uint64_t key);
// Sorts the sums by key. SumTable_get must not be called any more.
void SumTable_sort(struct SumTable *table);
// Returns the first sum in a sorted table whose key begins with the number
// `first`. Sets *count to the number of sums whose keys begin with `first`.
// Returns NULL if there is no such sum.
const struct Sum *SumTable_of(const struct SumTable *table, uint32_t first,
                              size_t *count);
