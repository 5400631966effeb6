// SPDX-License-Identifier: MIT
// Bytes that a trace writer makes once and copies into many events: a table
// from a key to two pieces of bytes. A trace writer owns it; one thread.
#ifndef OCULAR_FORMATS_ENCODED_H
#define OCULAR_FORMATS_ENCODED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ENCODED_BYTES (16u << 20) // above this the table is emptied
#define ENCODED_OVERREAD 16u      // bytes that may be read behind a piece

struct EncodedPiece {
    const void *data;
    size_t size;
};

struct EncodedEntry {
    uint64_t key;
    uint32_t at;    // offset of the first piece; the second follows it
    uint32_t first; // its bytes; 0: the entry is free
    uint32_t second;
};

struct Encoded {
    struct EncodedEntry *entries;
    size_t mask; // entries - 1, a power of two less one
    size_t count;
    uint8_t *bytes;
    size_t used; // bytes
    size_t room; // bytes
};

// Zeroed memory is an empty table.
void Encoded_release(struct Encoded *table);
void Encoded_clear(struct Encoded *table); // keeps the memory
// Adds a key that is not there; the first piece has one byte at least. Forgets
// all others if the table is too large. NULL: memory is out.
const struct EncodedEntry *Encoded_add(struct Encoded *table, uint64_t key,
                                       struct EncodedPiece first,
                                       struct EncodedPiece second);

// The same for a number, above 0. 0 or -ENOMEM.
int Encoded_add_number(struct Encoded *table, uint64_t key, uint64_t number);

static inline size_t Encoded_place(const struct Encoded *table, uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & table->mask;
}

// NULL: not there. Valid until the next Encoded_add.
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

// 0: not there.
static inline uint64_t Encoded_find_number(const struct Encoded *table,
                                           uint64_t key)
{
    const struct EncodedEntry *entry = Encoded_find(table, key);
    uint64_t number = 0;

    if (entry)
        memcpy(&number, Encoded_first(table, entry), sizeof number);
    return number;
}

#endif
