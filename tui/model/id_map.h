// SPDX-License-Identifier: MIT
// A map from numbers to numbers, for example from a worker's ids of functions
// to the ids of the merged rows. Only one thread calls these functions.
#ifndef OCULAR_TUI_MODEL_ID_MAP_H
#define OCULAR_TUI_MODEL_ID_MAP_H

#include <stddef.h>
#include <stdint.h>

struct IdEntry {
    uint64_t key; // 0: the entry is free
    uint64_t value;
};

struct IdMap {             // a zeroed map is empty
    struct IdEntry *items; // hash table with open addressing; owned
    size_t count;
    size_t capacity; // a power of two, or 0
};

void IdMap_release(struct IdMap *map);
// Returns the entry's value, or 0 if there is no entry.
uint64_t IdMap_find(const struct IdMap *map, uint64_t key);
// Returns the value of an entry, which is 0 if the entry is new. Returns NULL
// if memory is out. The next call of IdMap_at may move the value.
uint64_t *IdMap_at(struct IdMap *map, uint64_t key);

#endif
