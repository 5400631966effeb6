// SPDX-License-Identifier: MIT
// The functions of the selected thread, or of all, in the threads view. One
// thread.
#ifndef OCULAR_TUI_VIEWS_THREADS_FUNCTIONS_H
#define OCULAR_TUI_VIEWS_THREADS_FUNCTIONS_H

#include "tui/views/ui.h"

// Draws a title in the box's line, and up to `height` functions below it.
void ThreadsFunctions_draw(struct Ui *ui, const struct ThreadOrder *order,
                           struct Box box, int height);

#endif
