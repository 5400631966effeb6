// SPDX-License-Identifier: MIT
// A map from numbers to numbers. For example, it maps a worker's ids of
// functions to the ids of merged rows. Only one thread at a time may use a map.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct IdEntry {
    uint64_t key; // 0 if the entry is free.
    uint64_t value;
};

struct IdMap {             // A zeroed map is empty.
    struct IdEntry *items; // Owned hash table with open addressing.
    size_t count;
    size_t capacity; // A power of two, or 0.
};

void IdMap_release(struct IdMap *map);
// Returns the value of `key`, or 0 if the map does not have the key.
uint64_t IdMap_find(const struct IdMap *map, uint64_t key);
// Returns a pointer to the value of `key`. If the key is new, adds an entry
// with the value 0. Returns NULL if memory is out. The next call of IdMap_at
// may move the value.
uint64_t *IdMap_at(struct IdMap *map, uint64_t key);
