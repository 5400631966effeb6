// SPDX-License-Identifier: MIT
// Which row of a list is selected and which rows are on the screen. All views
// with rows move by it. One thread.
#ifndef OCULAR_TUI_SCREEN_LIST_H
#define OCULAR_TUI_SCREEN_LIST_H

#include <stdbool.h>

#define LIST_SCROLL 3 // rows that one step of the mouse wheel moves by

struct List {
    long count;  // rows in all
    long height; // rows that fit on the screen, 1 at least
    long selected;
    long top; // index of the first row on the screen
};

// Takes how many rows there are and how many fit, before drawing. Moves
// selection and top into range, so that the selection is on the screen.
void List_fit(struct List *list, long count, long height);
void List_select(struct List *list, long index);
// Carries out a request (enum Request) to move; false if it is another request.
bool List_move(struct List *list, int request);
// Returns the row on that line of the list, -1 if there is none.
long List_at(const struct List *list, int line);

#endif
