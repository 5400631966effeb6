// SPDX-License-Identifier: MIT
// The rows of a view that has one list of parts of the snapshot. The view's
// struct ShownKind says what its list shows. The functions below then serve as
// the functions of its struct View, and act on the view that is shown.
#pragma once

#include "tui/views/ui.h"

#define SHOWN_MOST 2048 // Largest number of rows.

struct ShownRows {
    struct ListRows list; // Its source is this struct, which must not move.
    const struct Ui *ui;
    const void *of; // The part of the snapshot to which all rows belong.
    size_t parts;   // Number of rows, and of parts that do not pass.
    const void *rows[SHOWN_MOST];
};

struct ShownKind {
    struct ListRows list; // All except the source and the number of rows.
    // The text or the number of a row in a column. The number can be NAN. Rows
    // that are equal in the column of the sort are sorted by the column
    // `second`. NULL if the list is never sorted.
    const char *(*text)(const struct ShownRows *shown, const void *row,
                        int column);
    double (*number)(const struct ShownRows *shown, const void *row,
                     int column);
    int second;
    // Adds the rows. Called only if there is a snapshot.
    void (*fill)(struct ShownRows *shown);
    void (*draw_title)(struct Ui *ui, const struct ShownRows *shown);
    // Returns the reason why the snapshot has none of these parts.
    const char *(*why_none)(const struct ShownRows *shown);
    // Offsets of a row's members `id` (of its function) and `line`.
    size_t id, line;
    // Returns the id of the function if there is no member `id`. NULL if there
    // is. The row is not NULL, or there is a part `of`.
    uint64_t (*function)(const struct ShownRows *shown, const void *row);
    // Returns the number of lines of the list, of `body` lines. draw_below
    // draws about the selected row in the other lines. Both are NULL if the
    // list takes all lines.
    int (*height)(const struct ShownRows *shown, int body);
    void (*draw_below)(struct Ui *ui, const struct ShownRows *shown,
                       const void *row, struct Box box, int height);
};

static inline const void *ShownRows_at(const struct ListRows *rows, long row)
{
    return ((const struct ShownRows *)rows->source)->rows[row];
}

void ShownRows_fill(struct ShownRows *shown, const struct Ui *ui);
// Adds a part of the snapshot as a row, if `passes` is true and there is room.
void ShownRows_add(struct ShownRows *shown, const void *row, bool passes);
// Returns true if the list's function `has` finds the filter in the row, or if
// there is no filter.
bool ShownRows_passes(struct ShownRows *shown, const void *row);
void ShownRows_sort(struct ShownRows *shown);
// Leaves out a column in which no row has a number, if it is not the sort's.
void ShownRows_drop_empty(struct ShownRows *shown, int column);
// Returns the reason why there are no rows.
const char *ShownRows_why_none(const struct ShownRows *shown);
// Returns the selected row, or NULL.
const void *ShownRows_selected(const struct ShownRows *shown);
// Fills the rows, and lets the list handle a request.
enum ListAnswer ShownRows_answer(struct ShownRows *shown, struct Ui *ui,
                                 int request, uint32_t key);

// These functions are members of struct View. SHOWN_VIEW sets those that are
// the same in most of these views.
#define SHOWN_VIEW(kind)                                                       \
    .shown = &(kind), .draw = ShownRows_draw, .find = ShownRows_find,          \
    .function = ShownRows_function
void ShownRows_draw(struct Ui *ui, const struct Status *status);
bool ShownRows_find(struct Ui *ui, int step, bool here);
bool ShownRows_press(struct Ui *ui, int request, uint32_t key);
uint64_t ShownRows_function(const struct Ui *ui);
uint64_t ShownRows_line(const struct Ui *ui);
