// SPDX-License-Identifier: MIT
// The columns that the main screen can be sorted by, in place of its rows, with
// the present one marked. One thread.
#ifndef OCULAR_TUI_VIEWS_SORT_MENU_H
#define OCULAR_TUI_VIEWS_SORT_MENU_H

#include "tui/views/view.h"

// The column that the table is sorted by is selected.
void SortMenu_open(struct Ui *ui);
// Draws it below the header.
void SortMenu_draw(struct Ui *ui);
// A key that does not move in the menu closes it. False: the key does then what
// it does on the main screen.
bool SortMenu_press(struct Ui *ui, int request, uint32_t key);

#endif
