// SPDX-License-Identifier: MIT
// Which rows are shown, and in which order: a function of the rows and of the
// user's choices. Called by the model, on its thread.
#ifndef OCULAR_TUI_MODEL_ROW_ORDER_H
#define OCULAR_TUI_MODEL_ROW_ORDER_H

#include "tui/model/column.h"
#include "tui/model/row_table.h"

struct OrderWish {
    enum ColumnId column; // that it sorts by
    bool invert;
    bool baseline;      // it sorts by the change since then
    bool hide_idle;     // idle rows are counted and not shown
    const char *filter; // "": all rows pass
};

// Writes the indexes of the rows that are shown, the first one first; `order`
// has room for all. Returns how many are shown, and *hidden how many are not
// because they are idle. Without memory for the sort all rows that pass the
// filter stand in the table's order.
size_t RowOrder_make(uint32_t *order, const struct RowTable *table,
                     const struct OrderWish *wish, size_t *hidden);
// Does the row pass a filter, or match a search? If one thread is chosen, a
// function without a share of it never does.
bool RowOrder_matches(const struct Row *row, const char *text);

#endif
