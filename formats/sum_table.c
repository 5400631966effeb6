// SPDX-License-Identifier: MIT
#include "formats/sum_table.h"
#include "ipc/base/array.h"

#include <stdlib.h>

void SumTable_release(struct SumTable *table)
{
    IdMap_release(&table->places);
    Heap_free(table->sums);
    *table = (struct SumTable){0};
}

struct Sum *SumTable_get(struct SumTable *table, uint64_t key)
{
    uint64_t place = IdMap_find(&table->places, key), *added;

    if (place)
        return &table->sums[place - 1];
    if (table->count >= SUM_TABLE_MOST ||
        !ARRAY_GROW(table->sums, table->count, table->room, 64))
        return NULL;
    added = IdMap_at(&table->places, key);
    if (!added)
        return NULL;
    table->sums[table->count] = (struct Sum){.key = key};
    *added = ++table->count;
    return &table->sums[table->count - 1];
}

static int by_key(const void *a, const void *b)
{
    uint64_t left = ((const struct Sum *)a)->key;
    uint64_t right = ((const struct Sum *)b)->key;

    return left < right ? -1 : left > right;
}

void SumTable_sort(struct SumTable *table)
{
    IdMap_release(&table->places);
    if (table->count)
        qsort(table->sums, table->count, sizeof *table->sums, by_key);
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
