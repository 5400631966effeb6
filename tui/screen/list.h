// SPDX-License-Identifier: MIT
// A list of rows in columns, as htop's Panel. It places the columns that have
// room, draws titles and rows, keeps one row selected and on the screen,
// searches, and takes keys and the mouse. A view hands it a table of columns
// and a source of rows. One thread.
#ifndef OCULAR_TUI_SCREEN_LIST_H
#define OCULAR_TUI_SCREEN_LIST_H

#include "tui/screen/canvas.h"

#include <stdbool.h>
#include <stdint.h>

#define LIST_SCROLL 3   // rows that one step of the mouse wheel moves by
#define LIST_COLUMNS 32 // at most
#define LIST_TEXT 1024

struct ListRows;

struct ListCell {         // the text of one cell
    char text[LIST_TEXT]; // "": the cell is blank
    uint8_t style;        // enum Style
};

struct ListColumn {
    const char *title; // NULL: it has none
    int width;         // cells; of a column that grows: the least
    int gap;           // blank cells before it
    int importance;    // 0: never drops; the largest drops first; none twice
    int room;          // cells that it must leave to the columns that grow
    int grows;         // per cent of the spare cells; 0: its width is fixed.
                       // One column at least grows, and two at most
    int most;          // cells that it grows to; 0: all that are spare
    bool left;         // aligned left; else right
    bool path;         // a long text loses leading directories,
    enum Cut cut;      // ... or this end
    bool a_to_z;       // the least value comes first; else the largest
    // Draws a cell that is more than a text. NULL: the rows' write() has the
    // text.
    void (*draw)(struct Canvas *canvas, struct Box box,
                 const struct ListRows *rows, long row);
};

struct ListRows {       // the source of the rows
    const void *source; // for the functions below
    long count;
    const struct ListColumn *columns;
    int column_count;
    uint32_t absent;   // a bit for each column that is not there at any width
    bool sorts;        // titles sort: List.sort and List.invert count
    bool newest_first; // a selected first row stands for the newest one: the
                       // selection stays there as rows come
    // Names a row, never 0: the selection stays with it, wherever it moves.
    // NULL: the selection stays with a place.
    uint64_t (*key)(const struct ListRows *rows, long row);
    // Is that text in the row? NULL: nothing is searched.
    bool (*has)(const struct ListRows *rows, long row, const char *text);
    void (*write)(struct ListCell *cell, const struct ListRows *rows, long row,
                  int column);
    // Draws a row that is not made of cells. False: it is. NULL: all are.
    bool (*draw)(struct Canvas *canvas, struct Box line,
                 const struct ListRows *rows, long row);
};

struct ListPlace { // of a column on the screen
    int column;
    int x;
    int width;
};

struct List {
    long count;  // rows, as they were last
    long height; // rows that fit on the screen, 1 at least
    long selected;
    long top;         // the first row on the screen
    uint64_t key;     // of the selected row; 0: the selection stays at the top
    bool unmarked;    // the selected row does not show
    int sort;         // column
    bool invert;      // the order is the other way round
    struct Box place; // where it was drawn last: the line of the titles
    struct ListPlace columns[LIST_COLUMNS];
    int column_count;
};

enum ListAnswer {
    LIST_IGNORES, // that request is not for a list
    LIST_DONE,
    LIST_OPENS, // the selected row was clicked on
    LIST_SORTS  // sort or invert has changed
};

// Writes a text into a cell.
void ListCell_put(struct ListCell *cell, enum Style style, const char *text);

// Places the columns in so many cells: the first in the table, from the most
// important on until one would leave too little room. So a wider list never
// loses a column. The one that sorts is always there.
void List_arrange(struct List *list, const struct ListRows *rows, int width);
// Returns where a column is; NULL: it is not there.
const struct ListPlace *List_place(const struct List *list, int column);
// Draws the titles in the box's line and up to `height` rows below it; the last
// cell of a line stays blank. The bar of the titles goes on to the right edge
// of the screen.
void List_draw(struct List *list, const struct ListRows *rows,
               struct Canvas *canvas, struct Box box, int height);
// Takes how many rows there are and how many fit. Moves the selection and top
// into range, so that the selection is on the screen.
void List_fit(struct List *list, const struct ListRows *rows, long height);
// Returns the selected row; -1: there is none.
long List_selected(const struct List *list, const struct ListRows *rows);
void List_select(struct List *list, const struct ListRows *rows, long row);
// Selects the next row (step 1) or the previous one (-1) that has the text,
// round at the ends; `here`: the selected row comes first. False: there is
// none.
bool List_find(struct List *list, const struct ListRows *rows, const char *text,
               int step, bool here);
// Carries out a request (enum Request) to move or to sort, or a click.
enum ListAnswer List_press(struct List *list, const struct ListRows *rows,
                           int request, uint32_t key);

// Moves the first line of a text by a request; `page`: lines. False: it does
// not move.
bool List_scroll(int *top, int page, int request);

#endif
