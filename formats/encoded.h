// SPDX-License-Identifier: MIT
// Holds bytes that a writer of traces makes once and copies into many events.
// The table of encoded bytes has two byte strings (pieces) for each key. A
// writer of traces owns the table and uses it on one thread.
#pragma once

#include "ipc/base/bytes.h"
#include "ipc/base/id_map.h"

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
    // Offset of the first byte string. The second byte string comes directly
    // after the first one.
    uint32_t at;
    uint32_t first, second; // Lengths of the byte strings.
};

struct Encoded { // An empty struct has only zero bytes.
    // For each key, the index of its entry plus 1, or a number.
    struct IdMap map;
    struct EncodedEntry *entries;
    size_t count, room;
    struct Bytes bytes;
};

void Encoded_release(struct Encoded *table);
void Encoded_clear(struct Encoded *table); // Empties the table.
// Adds an entry with a key that is not in the table. If the table is too large,
// Encoded_add first removes all entries. Returns NULL if memory is out.
const struct EncodedEntry *Encoded_add(struct Encoded *table, uint64_t key,
                                       struct EncodedPiece first,
                                       struct EncodedPiece second);

// Adds a number above 0 with a key that has no entry. Returns 0 or -ENOMEM.
int Encoded_add_number(struct Encoded *table, uint64_t key, uint64_t number);

// Returns the entry with the key `key`, or NULL. The returned entry is valid
// until the next Encoded_add.
static inline const struct EncodedEntry *
Encoded_find(const struct Encoded *table, uint64_t key)
{
    uint64_t number = IdMap_find(&table->map, key);

    return number ? &table->entries[number - 1] : NULL;
}

// Returns the number with the key `key`, or 0 if there is none.
static inline uint64_t Encoded_find_number(const struct Encoded *table,
                                           uint64_t key)
{
    return IdMap_find(&table->map, key);
}

static inline const uint8_t *Encoded_first(const struct Encoded *table,
                                           const struct EncodedEntry *entry)
{
    return table->bytes.data + entry->at;
}

static inline const uint8_t *Encoded_second(const struct Encoded *table,
                                            const struct EncodedEntry *entry)
{
    return table->bytes.data + entry->at + entry->first;
}
