// SPDX-License-Identifier: MIT
// The columns of the main table, one row of a table each: what they are called,
// how wide they are, which drop first, how a function's cell is written and by
// what it sorts. A new column is one more row. Pure functions, any thread.
#ifndef OCULAR_TUI_COLUMN_H
#define OCULAR_TUI_COLUMN_H

#include "tui/canvas.h"
#include "tui/row.h"

#include <stdbool.h>

enum ColumnId { // in the order of the screen
    COLUMN_SHARE,
    COLUMN_TREND,
    COLUMN_TOTAL_SHARE,
    COLUMN_C_SHARE,
    COLUMN_WAIT_SHARE,
    COLUMN_RATE,
    COLUMN_CALLS,
    COLUMN_AVG,
    COLUMN_MIN,
    COLUMN_P50,
    COLUMN_P99,
    COLUMN_SELF,
    COLUMN_TOTAL,
    COLUMN_WAITED,
    COLUMN_STATE,
    COLUMN_SITES,
    COLUMN_SPEC,
    COLUMN_FUNCTION,
    COLUMN_FILE,
    COLUMN_COUNT
};

#define COLUMN_TEXT 1024
#define TREND_CELLS 8

struct Look { // how numbers are shown
    bool ns;  // cycles as time; needs tsc_hz
    double tsc_hz;
};

struct ColumnText {
    char text[COLUMN_TEXT];
    uint8_t style;
};

struct Column {
    const char *name;       // for -s and messages
    const char *title;      // at most `width` cells
    const char *about;      // for the help
    const char *time_title; // instead, when cycles show as time
    int width;              // for FUNCTION and FILE: the least
    int importance;         // 0 = never drops; the largest drops first
    int room;     // cells FUNCTION (and FILE) must keep for it to be there
    bool sampled; // only there when something samples shares
    bool left;    // aligned left
    bool by_text; // sorts by text, a to z
    enum Cut cut;
    double (*key)(const struct Row *row); // NULL for by_text
    void (*format)(struct ColumnText *out, const struct Row *row,
                   const struct Look *look);
};

extern const struct Column COLUMNS[COLUMN_COUNT];

// The column of that name, case and blanks ignored; COLUMN_COUNT if none.
enum ColumnId Column_find(const char *name);
// What FUNCTION and FILE sort by.
const char *Column_text_key(enum ColumnId id, const struct Row *row);
// How hot a share is.
enum Style Column_heat(double share);
// A row of little bars, `count` values scaled to `most`; a dot for each that
// was not measured.
void Column_bars(char *out, size_t size, const float *values, int count,
                 double most);

#endif
