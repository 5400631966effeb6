// SPDX-License-Identifier: MIT
// Describes the name, the sort key, and the comparison with the baseline of
// each column of the table of functions. columns.def lists these columns.
// views/table_column.h formats the columns. The functions are pure, and any
// thread may call them.
#pragma once

#include "tui/model/row.h"

#include <stdbool.h>

// enum Change says how a column shows its change since the baseline.
enum Change {
    CHANGE_NOT, // The column shows the value and not the change.
    // A function that was not listed at the baseline has the baseline 0.
    CHANGE_SHARE,
    CHANGE_PART, // Like CHANGE_SHARE, but an increase is shown as good.
    CHANGE_RATE,
    CHANGE_COUNT,
    CHANGE_SUM, // The column is a sum of cycles.
    // The column is the number of cycles of one call. If the function was not
    // listed at the baseline, no change is shown.
    CHANGE_CYCLES,
    CHANGE_TIME // Like CHANGE_CYCLES, but in seconds.
};

struct Column {
    const char *name; // Name for the option -s and for messages.
    bool sampled;     // The column is shown only while shares are sampled.
    // If this column sorts the table, idle functions come last.
    bool recent;
    bool latency; // True if only the latency view shows the column.
    bool by_text; // The column sorts by text, from a to z.
    enum Change change;
    // Returns the column's value, or NaN if the value is null or by_text is
    // set.
    double (*key)(const struct Row *row);
};

extern const struct Column COLUMNS[COLUMN_COUNT];

// Returns the column with this name, ignoring case, or COLUMN_COUNT if there is
// no such column.
enum ColumnId Column_find(const char *name);
// Returns true if a view shows the column. The view is the latency view if
// `latency` is true, and the main view otherwise.
bool Column_is_in(enum ColumnId id, bool latency);
// Returns true if the column exists only for a snapshot of several processes.
bool Column_is_of_fleet(enum ColumnId id);
// Returns `id`, or the default column of the same view if the snapshot does not
// have the column `id`. `fleet` is true if the snapshot is of several
// processes, and `sampled` is true if it has shares.
enum ColumnId Column_in(enum ColumnId id, bool fleet, bool sampled);
// Returns the change of the key since the baseline, or NaN if the value now or
// at the baseline is null.
double Column_change(enum ColumnId id, const struct Row *row);
// Returns the number by which the column sorts. The column sorts by its key, or
// by the change of the key if `baseline` is true.
double Column_key(enum ColumnId id, const struct Row *row, bool baseline);
// Returns the text by which the columns FUNCTION and FILE sort.
const char *Column_text_key(enum ColumnId id, const struct Row *row);
