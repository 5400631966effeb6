// SPDX-License-Identifier: MIT
// Which row of a list is selected and which rows are on the screen: the moving
// that all views with rows have in common. Knows no rows. One thread.
#ifndef OCULAR_TUI_SCREEN_LIST_H
#define OCULAR_TUI_SCREEN_LIST_H

#include <stdbool.h>

#define LIST_SCROLL 3 // rows a turn of the wheel moves by

struct List {
    long count;  // rows there are
    long height; // rows that fit on the screen
    long selected;
    long top; // the first on the screen
};

// Says how many rows there are and how many fit, before drawing; moves
// selection and top into range, so that the selection is on the screen.
void List_fit(struct List *list, long count, long height);
void List_select(struct List *list, long index);
// Does what a request to move asks for; false if it is another request.
bool List_move(struct List *list, int request);
// The row on that line of the list, -1 if there is none.
long List_at(const struct List *list, int line);

#endif
