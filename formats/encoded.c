// SPDX-License-Identifier: MIT
#include "formats/encoded.h"
#include "ipc/base/array.h"

#include <errno.h>

void Encoded_release(struct Encoded *table)
{
    IdMap_release(&table->map);
    Heap_free(table->entries);
    Bytes_release(&table->bytes);
    *table = (struct Encoded){0};
}

void Encoded_clear(struct Encoded *table)
{
    IdMap_release(&table->map);
    Bytes_clear(&table->bytes);
    table->count = 0;
}

// Stores the number of an entry, or a number that a writer wants to find again.
static int put(struct Encoded *table, uint64_t key, uint64_t number)
{
    uint64_t *at = IdMap_at(&table->map, key);

    if (!at)
        return -ENOMEM;
    *at = number;
    return 0;
}

// Empties the table if it would have too many bytes with `more` bytes more.
static void limit(struct Encoded *table, size_t more)
{
    if (table->bytes.size + more + table->map.count * sizeof *table->entries >
        ENCODED_BYTES)
        Encoded_clear(table);
}

const struct EncodedEntry *Encoded_add(struct Encoded *table, uint64_t key,
                                       struct EncodedPiece first,
                                       struct EncodedPiece second)
{
    struct EncodedEntry entry = {.first = (uint32_t)first.size,
                                 .second = (uint32_t)second.size};

    limit(table, first.size + second.size);
    entry.at = (uint32_t)table->bytes.size;
    Bytes_put(&table->bytes, first.data, first.size);
    Bytes_put(&table->bytes, second.data, second.size);
    if (!Bytes_extend(&table->bytes, ENCODED_OVERREAD) ||
        !ARRAY_GROW(table->entries, table->count, table->room, 256) ||
        put(table, key, table->count + 1))
        return NULL;
    table->bytes.size -= ENCODED_OVERREAD;
    table->entries[table->count] = entry;
    return &table->entries[table->count++];
}

int Encoded_add_number(struct Encoded *table, uint64_t key, uint64_t number)
{
    limit(table, 0);
    return put(table, key, number);
}
