// SPDX-License-Identifier: MIT
// A list shows rows in columns, like htop's Panel. The list chooses the columns
// that fit, draws titles and rows, keeps one row selected and visible,
// searches, and handles keys and the mouse. The view provides a table of
// columns and a source of rows.
#pragma once

#include "tui/screen/canvas.h"

#include <stdbool.h>
#include <stdint.h>

#define LIST_SCROLL 3   // Rows that one step of the mouse wheel moves.
#define LIST_COLUMNS 32 // Largest number of columns.
#define LIST_TEXT 1024

struct ListRows;

struct ListCell {         // The text of one cell.
    char text[LIST_TEXT]; // Text of the cell ("" = a blank cell).
    uint8_t style;        // An enum Style.
};

struct ListColumn {
    const char *title; // Title of the column (NULL = none).
    int width; // Width in cells, or the least width of a growing column.
    int gap;   // Blank cells before the column.
    // The column with the largest importance is dropped first. Each importance
    // is used for one column only. A column with the importance 0 is never
    // dropped.
    int importance;
    // Least cells for the growing columns, or this column is left out.
    int room;
    // Percentage of the free cells that the column gets (0 = the width is
    // fixed). One or two columns of a list grow.
    int grows;
    int most;     // Greatest width in cells (0 = no limit).
    bool left;    // True if the cells are aligned left, false if right.
    bool path;    // A long text loses leading directories first.
    enum Cut cut; // The end at which a long text is cut, if `path` is false.
    // True if the default order is ascending. False if the largest value is
    // first.
    bool a_to_z;
    // Draws a cell that is more than a text in one style. NULL if the cell is
    // the text from write() of struct ListRows.
    void (*draw)(struct Canvas *canvas, struct Box box,
                 const struct ListRows *rows, long row);
};

// Makes a struct ListColumn. The other members follow as designated members.
#define LIST_COLUMN(title_, width_, gap_, ...)                                 \
    {                                                                          \
        .title = title_, .width = width_, .gap = gap_, __VA_ARGS__             \
    }

struct ListRows {       // The source of the rows.
    const void *source; // Passed on to the functions below.
    long count;
    const struct ListColumn *columns;
    int column_count;
    uint32_t absent; // A bit for each column that is not shown at any width.
    // The user can click titles to sort. List.sort and List.invert are used.
    bool sorts;
    // If the first row is selected and new rows come, the selection stays on
    // the first row.
    bool newest_first;
    // Returns the row's key, which is never 0. The selection follows the row
    // with this key. NULL if the selection stays at the same position.
    uint64_t (*key)(const struct ListRows *rows, long row);
    // Returns true if the row contains the text. NULL if the list has no
    // search.
    bool (*has)(const struct ListRows *rows, long row, const char *text);
    void (*write)(struct ListCell *cell, const struct ListRows *rows, long row,
                  int column);
    // Draws a row that does not consist of cells. Returns false if the row
    // consists of cells. NULL if all rows consist of cells.
    bool (*draw)(struct Canvas *canvas, struct Box line,
                 const struct ListRows *rows, long row);
};

struct ListPlace { // position of a column on the screen
    int column;
    int x;
    int width;
};

struct List {
    long count;  // Number of rows at the newest call of List_fit.
    long height; // Number of rows that fit on the screen, at least 1.
    long selected;
    long top; // Index of the first row on the screen.
    // Key of the selected row (0 = the selection stays at the top).
    uint64_t key;
    bool unmarked;    // The selected row is not highlighted.
    int sort;         // Index of the column that sorts.
    bool invert;      // The order of the rows is reversed.
    struct Box place; // The box of the titles in the newest drawing.
    struct ListPlace columns[LIST_COLUMNS];
    int column_count;
};

enum ListAnswer {
    LIST_IGNORES, // the request is not for a list
    LIST_DONE,
    LIST_OPENS, // The selected row was clicked.
    LIST_SORTS  // `sort` or `invert` has changed.
};

// Writes a text into a cell of the list.
void ListCell_put(struct ListCell *cell, enum Style style, const char *text);

// Chooses and places the columns in `width` cells. Adds columns by importance,
// and stops at the first column that leaves too few cells. So a wider list
// never loses a column. The sorting column is always shown.
void List_arrange(struct List *list, const struct ListRows *rows, int width);
// Returns the position of a column, or NULL if it is not shown.
const struct ListPlace *List_place(const struct List *list, int column);
// Draws the titles in the box's line and up to `height` rows below it. The last
// cell of a line stays blank. The background of the titles reaches the right
// edge of the screen.
void List_draw(struct List *list, const struct ListRows *rows,
               struct Canvas *canvas, struct Box box, int height);
// Stores the number of rows and the height. Changes `selected` and `top` so
// that the selected row exists and is visible.
void List_fit(struct List *list, const struct ListRows *rows, long height);
// Returns the index of the selected row, or -1.
long List_selected(const struct List *list, const struct ListRows *rows);
void List_select(struct List *list, const struct ListRows *rows, long row);
// Selects the next (step 1) or previous (-1) row that contains the text. The
// search wraps around. If `here` is true, the search begins at the selected
// row. Returns false if no row contains the text.
bool List_find(struct List *list, const struct ListRows *rows, const char *text,
               int step, bool here);
// Handles a request (enum Request) to move or to sort, or a click.
enum ListAnswer List_press(struct List *list, const struct ListRows *rows,
                           int request, uint32_t key);

// Scrolls a text according to a request. *top is the text's first visible line.
// A page has `page` lines. Returns false if the request does not scroll.
bool List_scroll(int *top, int page, int request);
