// SPDX-License-Identifier: MIT
// A list shows rows in columns, like htop's Panel. The list chooses the columns
// that fit, draws titles and rows, keeps one row selected and visible,
// searches, and handles keys and the mouse. The view gives the list a table of
// columns and a source of rows.
#pragma once

#include "tui/screen/canvas.h"

#include <stdbool.h>
#include <stdint.h>

// Number of rows by which one step of the mouse wheel moves.
#define LIST_SCROLL 3
#define LIST_COLUMNS 32 // Largest number of columns.
#define LIST_TEXT 1024

struct ListRows;

struct ListCell {         // The text of one cell.
    char text[LIST_TEXT]; // Text of the cell ("" = a blank cell).
    uint8_t style;        // An enum Style.
};

struct ListColumn {
    const char *title; // Title of the column (NULL = none).
    int width; // Width in cells. A growing column has at least this width.
    int gap;   // Blank cells before the column.
    // If there is too little room, the column with the largest importance is
    // dropped first. No two columns may have the same importance. A column with
    // the importance 0 is never dropped.
    int importance;
    // The column is dropped if the growing columns would otherwise have fewer
    // than `room` cells.
    int room;
    // Percentage of the free cells that the column gets (0 = its width is
    // fixed). A list has one or two columns that grow.
    int grows;
    int most; // Greatest width in cells (0 = no limit).
    // True if the text is at the left of the cell, and false if it is at the
    // right.
    bool left;
    // True if the text is a path, which loses leading directories first if it
    // is too long.
    bool path;
    enum Cut cut; // If `path` is false, the end at which a long text is cut.
    // True if the smallest value is first in the default order. False if the
    // largest value is first.
    bool a_to_z;
    // Draws a cell that is not just a text in one style. NULL if all cells are
    // texts from write() of struct ListRows.
    void (*draw)(struct Canvas *canvas, struct Box box,
                 const struct ListRows *rows, long row);
};

// Makes a struct ListColumn. Further members can follow as designated
// initialisers.
#define LIST_COLUMN(title_, width_, gap_, ...)                                 \
    {                                                                          \
        .title = title_, .width = width_, .gap = gap_, __VA_ARGS__             \
    }

struct ListRows {       // The source of the rows.
    const void *source; // A pointer for the functions below.
    long count;
    const struct ListColumn *columns;
    int column_count;
    uint32_t absent; // A bit for each column that is never shown.
    // True if the user can sort by clicking on titles. A list that can be
    // sorted by clicks uses List.sort and List.invert.
    bool sorts;
    // If the first row is selected, the selection stays on the first row when
    // new rows come.
    bool newest_first;
    // Returns the key of a row, which is never 0. The selection moves with the
    // row that has the selected key. If `key` is NULL, the selection stays at
    // the same position.
    uint64_t (*key)(const struct ListRows *rows, long row);
    // Returns true if the row contains the text. NULL if the list cannot be
    // searched.
    bool (*has)(const struct ListRows *rows, long row, const char *text);
    void (*write)(struct ListCell *cell, const struct ListRows *rows, long row,
                  int column);
    // Draws a row that has no cells. Returns false if the row has cells. NULL
    // if all rows have cells.
    bool (*draw)(struct Canvas *canvas, struct Box line,
                 const struct ListRows *rows, long row);
};

struct ListPlace { // Position of a column on the screen.
    int column;
    int x;
    int width;
};

struct List {
    long count;  // Number of rows at the last call of List_fit.
    long height; // Number of rows that fit on the screen, at least 1.
    long selected;
    long top; // Index of the first row on the screen.
    // Key of the selected row (0 = the selection stays at the top).
    uint64_t key;
    bool unmarked;    // True if the selected row is not highlighted.
    int sort;         // Index of the column by which the rows are sorted.
    bool invert;      // True if the order of the rows is reversed.
    struct Box place; // The box of the titles when the list was last drawn.
    struct ListPlace columns[LIST_COLUMNS];
    int column_count;
};

enum ListAnswer {
    LIST_IGNORES, // The request is not for a list.
    LIST_DONE,
    LIST_OPENS, // The user has clicked on the selected row.
    LIST_SORTS  // `sort` or `invert` has changed.
};

// Writes a text into a cell of the list. If the text is too long for a cell,
// only its end is written.
void ListCell_put(struct ListCell *cell, enum Style style, const char *text);

// Chooses the columns that fit into `width` cells, and their positions. Columns
// are added by their importance, up to the first column that would leave too
// few cells. A list that gets wider therefore never loses a column. The column
// by which rows are sorted is always shown.
void List_arrange(struct List *list, const struct ListRows *rows, int width);
// Returns the position of a column, or NULL if it is not shown.
const struct ListPlace *List_place(const struct List *list, int column);
// Draws the titles into the first line of the box, and up to `height` rows
// below it. The last cell of a line stays blank. The background of the titles
// reaches the right edge of the screen.
void List_draw(struct List *list, const struct ListRows *rows,
               struct Canvas *canvas, struct Box box, int height);
// Sets the number of rows and the height. Changes `selected` and `top` if
// necessary, so that the selected row exists and is visible.
void List_fit(struct List *list, const struct ListRows *rows, long height);
// Returns the index of the selected row, or -1.
long List_selected(const struct List *list, const struct ListRows *rows);
void List_select(struct List *list, const struct ListRows *rows, long row);
// Selects the next (step 1) or previous (-1) row that contains the text. The
// search wraps around. If `here` is true, the search begins at the selected
// row. Returns false if no row contains the text.
bool List_find(struct List *list, const struct ListRows *rows, const char *text,
               int step, bool here);
// Handles a request to move or to sort (enum Request), or a click.
enum ListAnswer List_press(struct List *list, const struct ListRows *rows,
                           int request, uint32_t key);

// Returns the number of rows of a list above something else. The list takes
// only as many of the `lines` as it needs, and at most half of them.
int List_half(const struct ListRows *rows, int lines);
// Scrolls a text if the request asks for it. *top is the first visible line of
// the text. A page has `page` lines. Returns false if the request does not
// scroll.
bool List_scroll(int *top, int page, int request);
