// SPDX-License-Identifier: MIT
// The help: every key of the keymap, every column of the table, and what the
// marks mean. Printed from the same tables that drive keys and columns. Draws
// only; one thread.
#ifndef OCULAR_TUI_VIEW_HELP_H
#define OCULAR_TUI_VIEW_HELP_H

#include "tui/canvas.h"

// Draws from line *top on, which is moved into range.
void ViewHelp_draw(struct Canvas *canvas, int *top);

#endif
