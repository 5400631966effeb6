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
    const void *rows[SHOWN_MOST];
};

struct ShownPlace {
    uint64_t function; // Id of the function, or 0 or NULL_U64 for none.
    uint64_t line;     // Line of its file, or NULL_U64.
};

struct ShownKind {
    struct ListRows list; // All except the source and the number of rows.
    // Adds the rows. Called only if there is a snapshot.
    void (*fill)(struct ShownRows *shown);
    void (*draw_title)(struct Ui *ui, const struct ShownRows *shown);
    // Returns the reason why there are no rows.
    const char *(*why_none)(const struct ShownRows *shown);
    // `row` is NULL if there is only the part `of`.
    struct ShownPlace (*place)(const struct ShownRows *shown, const void *row);
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
// Adds a row, if `passes` is true and there is room.
void ShownRows_add(struct ShownRows *shown, const void *row, bool passes);
// Returns true if the list's function `has` finds the filter in the row, or if
// there is no filter.
bool ShownRows_passes(struct ShownRows *shown, const void *row);
// Returns the selected row, or NULL.
const void *ShownRows_selected(const struct ShownRows *shown);
// Fills the rows, and lets the list handle a request.
enum ListAnswer ShownRows_answer(struct ShownRows *shown, struct Ui *ui,
                                 int request, uint32_t key);

// These functions are members of struct View.
void ShownRows_draw(struct Ui *ui, const struct Status *status);
bool ShownRows_find(struct Ui *ui, int step, bool here);
bool ShownRows_press(struct Ui *ui, int request, uint32_t key);
uint64_t ShownRows_function(const struct Ui *ui);
uint64_t ShownRows_line(const struct Ui *ui);
