// SPDX-License-Identifier: MIT
// Describes the columns of the main table, which columns.def lists: their
// names, sort keys, and how they compare with the baseline.
// views/table_column.h formats them. Pure functions, any thread.
#ifndef OCULAR_TUI_MODEL_COLUMN_H
#define OCULAR_TUI_MODEL_COLUMN_H

#include "tui/model/row.h"

#include <stdbool.h>

// How a column shows the change since the baseline.
enum Change {
    CHANGE_NOT,   // the column shows the value and not the change
    CHANGE_SHARE, // a function that was not listed at the baseline had 0
    CHANGE_PART,  // like CHANGE_SHARE, but an increase is shown as good
    CHANGE_RATE,
    CHANGE_COUNT,
    CHANGE_SUM, // the column is a sum of cycles
    // cycles of one call; no change is shown for a function that was not listed
    // at the baseline
    CHANGE_CYCLES
};

struct Column {
    const char *name; // name for the option -s and for messages
    bool sampled;     // the column is shown only while shares are sampled
    bool recent;      // when it sorts the table, idle functions come last
    bool by_text;     // the column sorts by text, from a to z
    enum Change change;
    // the column's value; NaN if the value is null or by_text is set
    double (*key)(const struct Row *row);
};

extern const struct Column COLUMNS[COLUMN_COUNT];

// Returns the column of that name, ignoring case, or COLUMN_COUNT if there is
// none.
enum ColumnId Column_find(const char *name);
// Returns the change of the key since the baseline, or NaN if a value is null
// or the baseline has none.
double Column_change(enum ColumnId id, const struct Row *row);
// Returns the number that the column sorts by: its key, or with `baseline` the
// change of the key.
double Column_key(enum ColumnId id, const struct Row *row, bool baseline);
// Returns the text that the columns FUNCTION and FILE sort by.
const char *Column_text_key(enum ColumnId id, const struct Row *row);

#endif
