// SPDX-License-Identifier: MIT
// Holds bytes that a writer of traces makes once and copies into many events.
// The table of encoded bytes has two byte strings (pieces) for each key. A
// writer of traces owns the table and uses it on one thread.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// If the table has more bytes than ENCODED_BYTES, it is emptied.
#define ENCODED_BYTES (16u << 20)
// A reader may also read ENCODED_OVERREAD bytes behind the end of a byte
// string.
#define ENCODED_OVERREAD 16u

struct EncodedPiece {
    const void *data;
    size_t size;
};

struct EncodedEntry {
    uint64_t key;
    // Offset of the first byte string. The second byte string comes directly
    // after the first one.
    uint32_t at;
    // Length of the first byte string, or 0 if the entry is free.
    uint32_t first;
    uint32_t second;
};

struct Encoded {
    struct EncodedEntry *entries;
    // Number of entries minus 1. The number of entries is a power of 2.
    size_t mask;
    size_t count;
    uint8_t *bytes;
    size_t used; // Used bytes of `bytes`.
    size_t room; // Allocated bytes of `bytes`.
};

// Each function expects that all bytes of the table were 0 before the first
// use.
void Encoded_release(struct Encoded *table);
// Empties the table, but keeps its memory.
void Encoded_clear(struct Encoded *table);
// Adds an entry with a key that is not in the table. The first byte string of
// an entry must have at least one byte. If the table is too large, Encoded_add
// first removes all entries. Returns NULL if memory is out.
const struct EncodedEntry *Encoded_add(struct Encoded *table, uint64_t key,
                                       struct EncodedPiece first,
                                       struct EncodedPiece second);

// Adds an entry that has a number above 0 instead of byte strings. Returns 0 or
// -ENOMEM.
int Encoded_add_number(struct Encoded *table, uint64_t key, uint64_t number);

static inline size_t Encoded_place(const struct Encoded *table, uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & table->mask;
}

// Returns the entry with the key `key`, or NULL. The returned entry is valid
// until the next Encoded_add.
static inline const struct EncodedEntry *
Encoded_find(const struct Encoded *table, uint64_t key)
{
    size_t place;

    if (!table->entries)
        return NULL;
    for (place = Encoded_place(table, key); table->entries[place].first;
         place = (place + 1) & table->mask)
        if (table->entries[place].key == key)
            return &table->entries[place];
    return NULL;
}

static inline const uint8_t *Encoded_first(const struct Encoded *table,
                                           const struct EncodedEntry *entry)
{
    return table->bytes + entry->at;
}

static inline const uint8_t *Encoded_second(const struct Encoded *table,
                                            const struct EncodedEntry *entry)
{
    return table->bytes + entry->at + entry->first;
}

// Returns the number in the entry with the key `key`, or 0 if there is no such
// entry.
static inline uint64_t Encoded_find_number(const struct Encoded *table,
                                           uint64_t key)
{
    const struct EncodedEntry *entry = Encoded_find(table, key);
    uint64_t number = 0;

    if (entry)
        memcpy(&number, Encoded_first(table, entry), sizeof number);
    return number;
}
