// SPDX-License-Identifier: MIT
// A RowTable contains the rows of all functions that the viewer knows, and
// finds a row by the id of its function. The model owns the table.
#pragma once

#include "tui/model/row.h"

struct RowTable {      // A zeroed table is empty.
    struct Row *items; // Owned array with one row for each id, not sorted.
    size_t count;
    size_t capacity;
    // Owned hash table with open addressing. A slot is an index in `items` plus
    // 1, or 0 if the slot is free.
    uint32_t *slots;
    size_t slot_count;
};

void RowTable_release(struct RowTable *table);
// Allocates memory for `more` new rows. Returns 0, or -ENOMEM with the table
// unchanged.
int RowTable_reserve(struct RowTable *table, size_t more);
// Returns the row with this id, or NULL.
struct Row *RowTable_find(const struct RowTable *table, uint64_t id);
// Returns the row with this id. If there is no such row, adds a row. Memory for
// a new row must have been allocated by RowTable_reserve.
struct Row *RowTable_take(struct RowTable *table, uint64_t id);
// Drops rows that no recent snapshot has contained.
void RowTable_forget(struct RowTable *table);
void RowTable_clear(struct RowTable *table); // Drops all rows.
