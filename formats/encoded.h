// SPDX-License-Identifier: MIT
// Holds bytes that a trace writer makes once and copies into many events. The
// table maps a key to two pieces of bytes. A trace writer owns the table and
// uses the table on one thread.
#ifndef OCULAR_FORMATS_ENCODED_H
#define OCULAR_FORMATS_ENCODED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ENCODED_BYTES (16u << 20) // a larger table is emptied
#define ENCODED_OVERREAD 16u      // bytes after a piece that may be read, too

struct EncodedPiece {
    const void *data;
    size_t size;
};

struct EncodedEntry {
    uint64_t key;
    uint32_t at;    // offset of the first piece; the second follows it
    uint32_t first; // bytes of the first piece; 0: the entry is free
    uint32_t second;
};

struct Encoded {
    struct EncodedEntry *entries;
    size_t mask; // number of entries - 1, all bits set
    size_t count;
    uint8_t *bytes;
    size_t used; // bytes
    size_t room; // bytes
};

// Zeroed memory is an empty table.
void Encoded_release(struct Encoded *table);
// Empties the table, but keeps its memory.
void Encoded_clear(struct Encoded *table);
// Adds a key that is not in the table. The first piece must have at least one
// byte. If the table is too large, first removes all entries. Returns NULL if
// memory is out.
const struct EncodedEntry *Encoded_add(struct Encoded *table, uint64_t key,
                                       struct EncodedPiece first,
                                       struct EncodedPiece second);

// Adds a key with a number above 0 instead of pieces. Returns 0 or -ENOMEM.
int Encoded_add_number(struct Encoded *table, uint64_t key, uint64_t number);

static inline size_t Encoded_place(const struct Encoded *table, uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & table->mask;
}

// Returns the entry of a key, or NULL. The entry is valid until the next
// Encoded_add.
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

// Returns the number of a key, or 0 if the key is not in the table.
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
