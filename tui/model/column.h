// SPDX-License-Identifier: MIT
// The columns of the main table, one row of a table each: what they are called,
// how wide they are, which drop first, how a function's cell is written and by
// what it sorts. A new column is one more row. Pure functions, any thread.
#ifndef OCULAR_TUI_MODEL_COLUMN_H
#define OCULAR_TUI_MODEL_COLUMN_H

#include "tui/model/row.h"
#include "tui/screen/canvas.h"
#include "tui/text/number.h"

#include <stdbool.h>

#define COLUMN_TEXT 1024
#define TREND_CELLS 8

struct Look {      // how numbers are shown
    bool ns;       // cycles as time; needs tsc_hz
    bool baseline; // what has changed since the baseline
    double tsc_hz;
};

struct ColumnText {
    char text[COLUMN_TEXT];
    uint8_t style;
};

// How the change of a column since the baseline is written.
enum Change {
    CHANGE_NOT,   // it is shown as it is
    CHANGE_SHARE, // what was not there then was 0
    CHANGE_PART,  // the same, but more of it is better
    CHANGE_RATE,
    CHANGE_COUNT,
    CHANGE_SUM,   // of cycles
    CHANGE_CYCLES // of a call: what was not there then has no change
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
    enum Change change;
    double (*key)(const struct Row *row); // NULL for by_text
    void (*format)(struct ColumnText *out, const struct Row *row,
                   const struct Look *look);
};

extern const struct Column COLUMNS[COLUMN_COUNT];

// The column of that name, case and blanks ignored; COLUMN_COUNT if none.
enum ColumnId Column_find(const char *name);
// What a column says of a function, as `look` wants it.
void Column_write(struct ColumnText *out, enum ColumnId id,
                  const struct Row *row, const struct Look *look);
// What it sorts by: its key, or how that has changed since the baseline.
double Column_key(enum ColumnId id, const struct Row *row, bool baseline);
// What FUNCTION and FILE sort by.
const char *Column_text_key(enum ColumnId id, const struct Row *row);
// What a call took: "<53" where that cannot be told from nothing.
const char *Column_cost(char out[NUMBER_MAX], double cycles,
                        const struct Look *look);
// What calls took in the mean, which is sharper than each of them.
const char *Column_mean(char out[NUMBER_MAX], double cycles,
                        const struct Look *look);
// How hot a share is.
enum Style Column_heat(double share);
// A row of little bars, `count` values scaled to `most`; a dot for each that
// was not measured.
void Column_bars(char *out, size_t size, const float *values, int count,
                 double most);

#endif
