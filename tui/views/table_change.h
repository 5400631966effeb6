// SPDX-License-Identifier: MIT
// How the main table writes what has changed since the baseline. Pure
// functions, any thread.
#ifndef OCULAR_TUI_VIEWS_TABLE_CHANGE_H
#define OCULAR_TUI_VIEWS_TABLE_CHANGE_H

#include "tui/model/column.h"
#include "tui/views/table_text.h"

// For columns whose `change` is not CHANGE_NOT.
void TableChange_write(struct TableText *out, enum ColumnId id,
                       const struct Row *row, const struct Display *display);

#endif
