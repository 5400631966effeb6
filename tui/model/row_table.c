// SPDX-License-Identifier: MIT
#include "tui/model/row_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// A row is dropped after FORGET_AFTER snapshots without its function. Rows are
// not dropped earlier, because a process may list only its hottest functions,
// which change often.
#define FORGET_AFTER TREND_LENGTH

static uint32_t *find_slot(const struct RowTable *table, uint64_t id)
{
    size_t mask = table->slot_count - 1;
    size_t at = (size_t)(id * 0x9E3779B97F4A7C15u >> 20) & mask;
    while (table->slots[at] && table->items[table->slots[at] - 1].id != id)
        at = (at + 1) & mask;
    return &table->slots[at];
}

static void rebuild_slots(struct RowTable *table)
{
    memset(table->slots, 0, table->slot_count * sizeof *table->slots);
    for (size_t i = 0; i < table->count; i++)
        *find_slot(table, table->items[i].id) = (uint32_t)i + 1;
}

void RowTable_release(struct RowTable *table)
{
    free(table->items);
    free(table->slots);
    *table = (struct RowTable){0};
}

int RowTable_reserve(struct RowTable *table, size_t more)
{
    size_t wanted = table->count + more, slots = 64, capacity;
    if (wanted <= table->capacity)
        return 0;
    while (slots / 2 < wanted)
        slots *= 2;
    capacity = slots / 2;
    if (capacity >= UINT32_MAX)
        return -ENOMEM;
    struct Row *items = realloc(table->items, capacity * sizeof *items);
    if (!items)
        return -ENOMEM;
    table->items = items;
    uint32_t *fresh = malloc(slots * sizeof *fresh);
    if (!fresh)
        return -ENOMEM;
    free(table->slots);
    table->slots = fresh;
    table->slot_count = slots;
    table->capacity = capacity;
    rebuild_slots(table);
    return 0;
}

struct Row *RowTable_find(const struct RowTable *table, uint64_t id)
{
    uint32_t slot = table->slots ? *find_slot(table, id) : 0;
    return slot ? &table->items[slot - 1] : NULL;
}

struct Row *RowTable_take(struct RowTable *table, uint64_t id)
{
    uint32_t *slot = find_slot(table, id);
    if (!*slot) {
        Row_init(&table->items[table->count++], id);
        *slot = (uint32_t)table->count;
    }
    return &table->items[*slot - 1];
}

void RowTable_forget(struct RowTable *table)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++)
        if (table->items[i].unseen < FORGET_AFTER)
            table->items[kept++] = table->items[i];
    if (kept == table->count)
        return;
    table->count = kept;
    rebuild_slots(table);
}

void RowTable_clear(struct RowTable *table)
{
    table->count = 0;
    if (table->slots)
        rebuild_slots(table);
}
