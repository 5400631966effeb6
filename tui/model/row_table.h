// SPDX-License-Identifier: MIT
// The rows of all functions that the viewer knows, found by function id. Owned
// by the model. One thread.
#ifndef OCULAR_TUI_MODEL_ROW_TABLE_H
#define OCULAR_TUI_MODEL_ROW_TABLE_H

#include "tui/model/row.h"

struct RowTable {      // a zeroed table is empty
    struct Row *items; // one for each id, not sorted; owned
    size_t count;
    size_t capacity;
    uint32_t
        *slots; // open hash from id to index + 1 in `items`; 0: free; owned
    size_t slot_count;
};

void RowTable_release(struct RowTable *table);
// Makes room for `more` new rows. Returns 0, or -ENOMEM with the table
// unchanged.
int RowTable_reserve(struct RowTable *table, size_t more);
// Returns the row of that id, or NULL.
struct Row *RowTable_find(const struct RowTable *table, uint64_t id);
// Returns the row of that id, or a new row. The caller has reserved room for a
// new row.
struct Row *RowTable_take(struct RowTable *table, uint64_t id);
// Drops rows that no recent snapshot has listed.
void RowTable_forget(struct RowTable *table);
void RowTable_clear(struct RowTable *table); // drops all rows

#endif
