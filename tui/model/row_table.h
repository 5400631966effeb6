// SPDX-License-Identifier: MIT
// The rows of all functions that the viewer knows, found by the function's id.
// Owned by the model. One thread.
#ifndef OCULAR_TUI_MODEL_ROW_TABLE_H
#define OCULAR_TUI_MODEL_ROW_TABLE_H

#include "tui/model/row.h"

struct RowTable {      // zeroed: empty
    struct Row *items; // in no order, one for each id; owned
    size_t count;
    size_t capacity;
    uint32_t
        *slots; // open hash, by id, of index + 1 in `items`; 0: free; owned
    size_t slot_count;
};

void RowTable_release(struct RowTable *table);
// Makes room for `more` new rows. 0, or -ENOMEM: the table is as it was.
int RowTable_reserve(struct RowTable *table, size_t more);
// The row of that id, or NULL.
struct Row *RowTable_find(const struct RowTable *table, uint64_t id);
// The row of that id, a new one if there is none; there must be room.
struct Row *RowTable_take(struct RowTable *table, uint64_t id);
// Drops the rows that no recent snapshot has listed.
void RowTable_forget(struct RowTable *table);
void RowTable_clear(struct RowTable *table); // drops all rows

#endif
