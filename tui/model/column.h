// SPDX-License-Identifier: MIT
// The columns of the main table as data, which columns.def lists: their names,
// what they sort by, and how they compare with the baseline.
// views/table_column.h says how they look. Pure functions, any thread.
#ifndef OCULAR_TUI_MODEL_COLUMN_H
#define OCULAR_TUI_MODEL_COLUMN_H

#include "tui/model/row.h"

#include <stdbool.h>

// How a column shows the change since the baseline.
enum Change {
    CHANGE_NOT,   // it shows its value, not the change
    CHANGE_SHARE, // a function that was not listed then had 0
    CHANGE_PART,  // the same, but a rise is good
    CHANGE_RATE,
    CHANGE_COUNT,
    CHANGE_SUM,   // of cycles
    CHANGE_CYCLES // of a call; a function that was not listed then has no
                  // change
};

struct Column {
    const char *name; // for -s and messages
    bool sampled;     // it is there only while something samples shares
    bool recent;      // sorted by it, idle functions come last
    bool by_text;     // it sorts by text, a to z
    enum Change change;
    double (*key)(const struct Row *row); // its value; NaN: null, or by_text
};

extern const struct Column COLUMNS[COLUMN_COUNT];

// The column of that name, case and blanks ignored; COLUMN_COUNT if none.
enum ColumnId Column_find(const char *name);
// How the key has changed since the baseline; NaN: a value is null, or the
// baseline has none.
double Column_change(enum ColumnId id, const struct Row *row);
// The number that the column sorts by: its key, or the change of it.
double Column_key(enum ColumnId id, const struct Row *row, bool baseline);
// The text that FUNCTION and FILE sort by.
const char *Column_text_key(enum ColumnId id, const struct Row *row);

#endif
