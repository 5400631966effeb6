// SPDX-License-Identifier: MIT
// Selects and sorts the rows that are shown. The result depends only on the
// rows and on the user's choices.
#pragma once

#include "tui/model/column.h"
#include "tui/model/row_table.h"

struct OrderRequest {
    enum ColumnId column; // The column by which the rows are sorted.
    bool invert;
    bool baseline;  // True if rows are sorted by the change since the baseline.
    bool hide_idle; // True if idle rows are left out and counted.
    bool own_only;  // True if only rows of the program's own code are shown.
    const char *filter; // "": all rows pass.
};

// Writes the indices of the shown rows to `order`, which must have room for all
// rows. Returns the number of shown rows. Sets *hidden to the number of idle
// rows that are left out. If there is no memory for sorting, all rows that pass
// the filter are shown in the order of the table.
size_t RowOrder_make(uint32_t *order, const struct RowTable *table,
                     const struct OrderRequest *request, size_t *hidden);
// Returns true if the function's name or file contains `text`. If the user has
// chosen one thread, returns false for a function without a share in this
// thread.
bool RowOrder_matches(const struct Row *row, const char *text);
