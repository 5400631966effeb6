// SPDX-License-Identifier: MIT
// The hash table of sums uses open addressing, and is at most half full.
#include "formats/sum_table.h"
#include "ipc/base/array.h"

#include <stdlib.h>

#define FIRST_ROOM 256u

void SumTable_release(struct SumTable *table)
{
    Heap_free(table->sums);
    *table = (struct SumTable){0};
}

static struct Sum *place_of(const struct SumTable *table, uint64_t key)
{
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(hash >> 32) & (table->room - 1);

    while (table->sums[at].key && table->sums[at].key != key)
        at = (at + 1) & (table->room - 1);
    return &table->sums[at];
}

static int grow(struct SumTable *table)
{
    struct SumTable larger = {.count = table->count,
                              .room =
                                  table->room ? 2 * table->room : FIRST_ROOM};
    size_t i;

    if (table->count >= SUM_TABLE_MOST)
        return -1;
    larger.sums = Heap_zeroed(larger.room, sizeof *larger.sums);
    if (!larger.sums)
        return -1;
    for (i = 0; i < table->room; i++)
        if (table->sums[i].key)
            *place_of(&larger, table->sums[i].key) = table->sums[i];
    Heap_free(table->sums);
    *table = larger;
    return 0;
}

struct Sum *SumTable_get(struct SumTable *table, uint64_t key)
{
    struct Sum *sum = table->room ? place_of(table, key) : NULL;

    if (sum && sum->key)
        return sum;
    if (2 * table->count >= table->room) {
        if (grow(table))
            return NULL;
        sum = place_of(table, key);
    }
    sum->key = key;
    table->count++;
    return sum;
}

static int by_key(const void *a, const void *b)
{
    uint64_t left = ((const struct Sum *)a)->key;
    uint64_t right = ((const struct Sum *)b)->key;

    return left < right ? -1 : left > right;
}

void SumTable_sort(struct SumTable *table)
{
    size_t i, kept = 0;

    for (i = 0; i < table->room; i++)
        if (table->sums[i].key)
            table->sums[kept++] = table->sums[i];
    if (kept)
        qsort(table->sums, kept, sizeof *table->sums, by_key);
}

const struct Sum *SumTable_of(const struct SumTable *table, uint32_t first,
                              size_t *count)
{
    size_t begin =
        ARRAY_BOUND(table->count, Sum_first(&table->sums[middle]) < first);
    size_t end =
        ARRAY_BOUND(table->count, Sum_first(&table->sums[middle]) <= first);

    *count = end - begin;
    return *count ? table->sums + begin : NULL;
}
