// SPDX-License-Identifier: MIT
#include "ipc/base/id_map.h"
#include "ipc/base/heap.h"

#include <stdbool.h>

#define LEAST 64 // Number of entries of the smallest table.

void IdMap_release(struct IdMap *map)
{
    Heap_free(map->items);
    *map = (struct IdMap){0};
}

// Returns the entry of the key, or the free entry in which a new key belongs.
// The upper half of the product depends on all bits of a key. The lower half is
// 0 if the lower half of the key is 0, as in the keys of sums
// (formats/sum_table.h).
static struct IdEntry *place_of(const struct IdMap *map, uint64_t key)
{
    size_t mask = map->capacity - 1;
    size_t at = (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;
    while (map->items[at].key && map->items[at].key != key)
        at = (at + 1) & mask;
    return &map->items[at];
}

uint64_t IdMap_find(const struct IdMap *map, uint64_t key)
{
    return map->capacity && key ? place_of(map, key)->value : 0;
}

// Doubles the table. Returns false if memory is out.
static bool grow(struct IdMap *map)
{
    struct IdMap larger = {.capacity =
                               map->capacity ? 2 * map->capacity : LEAST};
    larger.items = Heap_zeroed(larger.capacity, sizeof *larger.items);
    if (!larger.items)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->items[i].key)
            *place_of(&larger, map->items[i].key) = map->items[i];
    larger.count = map->count;
    Heap_free(map->items);
    *map = larger;
    return true;
}

uint64_t *IdMap_at(struct IdMap *map, uint64_t key)
{
    key = key ? key : UINT64_MAX;
    if (2 * (map->count + 1) > map->capacity && !grow(map))
        return NULL;
    struct IdEntry *entry = place_of(map, key);
    map->count += !entry->key;
    entry->key = key;
    return &entry->value;
}
