// SPDX-License-Identifier: MIT
// The table is a hash table with open addressing, and is at most half full. The
// bytes of all entries are in one memory block, in which each entry has an
// offset.
#include "formats/encoded.h"
#include "ipc/base/heap.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define FIRST_ENTRIES 1024u
#define FIRST_BYTES 65536u

void Encoded_release(struct Encoded *table)
{
    Heap_free(table->entries);
    Heap_free(table->bytes);
    memset(table, 0, sizeof *table);
}

void Encoded_clear(struct Encoded *table)
{
    if (table->entries)
        memset(table->entries, 0, (table->mask + 1) * sizeof *table->entries);
    table->count = table->used = 0;
}

// Returns the entry with the key `key`, or the free entry in which `key`
// belongs.
static struct EncodedEntry *place_of(const struct Encoded *table, uint64_t key)
{
    size_t place = Encoded_place(table, key);

    while (table->entries[place].first && table->entries[place].key != key)
        place = (place + 1) & table->mask;
    return &table->entries[place];
}

static bool grow_entries(struct Encoded *table)
{
    size_t size = table->entries ? 2 * (table->mask + 1) : FIRST_ENTRIES, i;
    struct Encoded grown = {.mask = size - 1};

    grown.entries = Heap_zeroed(size, sizeof *grown.entries);
    if (!grown.entries)
        return false;
    for (i = 0; table->entries && i <= table->mask; i++)
        if (table->entries[i].first)
            *place_of(&grown, table->entries[i].key) = table->entries[i];
    Heap_free(table->entries);
    table->entries = grown.entries;
    table->mask = grown.mask;
    return true;
}

static bool grow_bytes(struct Encoded *table, size_t size)
{
    size_t room = table->room ? table->room : FIRST_BYTES;
    uint8_t *bytes;

    while (room < table->used + size)
        room *= 2;
    bytes = Heap_resize(table->bytes, room);
    if (!bytes)
        return false;
    table->bytes = bytes;
    table->room = room;
    return true;
}

const struct EncodedEntry *Encoded_add(struct Encoded *table, uint64_t key,
                                       struct EncodedPiece first,
                                       struct EncodedPiece second)
{
    size_t size = first.size + second.size;
    struct EncodedEntry *entry;

    if (table->used + size + table->count * sizeof *entry > ENCODED_BYTES)
        Encoded_clear(table);
    if ((!table->entries || 2 * table->count > table->mask) &&
        !grow_entries(table))
        return NULL;
    if (table->used + size + ENCODED_OVERREAD > table->room &&
        !grow_bytes(table, size + ENCODED_OVERREAD))
        return NULL;
    entry = place_of(table, key);
    *entry = (struct EncodedEntry){key, (uint32_t)table->used,
                                   (uint32_t)first.size, (uint32_t)second.size};
    memcpy(table->bytes + table->used, first.data, first.size);
    if (second.size)
        memcpy(table->bytes + table->used + first.size, second.data,
               second.size);
    table->used += size;
    table->count++;
    return entry;
}

int Encoded_add_number(struct Encoded *table, uint64_t key, uint64_t number)
{
    const struct EncodedPiece first = {&number, sizeof number};
    const struct EncodedPiece none = {NULL, 0};

    return Encoded_add(table, key, first, none) ? 0 : -ENOMEM;
}
