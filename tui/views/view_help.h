// SPDX-License-Identifier: MIT
// The help: every key of the keymap, every column of the table, and what the
// marks mean. Printed from the same tables that drive keys and columns. One
// thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_HELP_H
#define OCULAR_TUI_VIEWS_VIEW_HELP_H

#include "tui/screen/canvas.h"
#include "tui/views/view.h"

// Draws from line *top on, which is moved into range. What is beyond `reach`
// (Navigation_reach) is left out.
void ViewHelp_draw(struct Canvas *canvas, const struct View *views, int *top,
                   unsigned reach);

// As a row of VIEWS.
extern const struct Binding VIEW_HELP_KEYS[];
void ViewHelp_open(struct Ui *ui, uint64_t function);
void ViewHelp_show(struct Ui *ui, const struct Status *status);
bool ViewHelp_press(struct Ui *ui, int request, uint32_t key);

#endif
