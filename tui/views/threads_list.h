// SPDX-License-Identifier: MIT
// The list of the threads view: its columns, and a line for each thread. One
// thread.
#ifndef OCULAR_TUI_VIEWS_THREADS_LIST_H
#define OCULAR_TUI_VIEWS_THREADS_LIST_H

#include "tui/views/ui.h"

// Is that column (enum ThreadsColumn) in a list of that width?
bool ThreadsList_has(int width, int column);
// Where the column's cell is in a line of the list.
struct Box ThreadsList_place(struct Box line, int column);
// Draws the titles in the box's line, and up to `height` threads below it.
void ThreadsList_draw(struct Ui *ui, const struct ThreadOrder *order,
                      struct Box box, int height);

#endif
