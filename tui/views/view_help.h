// SPDX-License-Identifier: MIT
// The help: every key of the keymap, every column of the table, and what the
// marks mean. Printed from the same tables that drive keys and columns. One
// thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_HELP_H
#define OCULAR_TUI_VIEWS_VIEW_HELP_H

#include "tui/screen/canvas.h"
#include "tui/screen/keymap.h"
#include "tui/views/status.h"

struct Screen;

// Draws from line *top on, which is moved into range. What is beyond `reach`
// (View_reach) is left out.
void ViewHelp_draw(struct Canvas *canvas, int *top, unsigned reach);

// As a row of VIEWS.
extern const struct Binding VIEW_HELP_KEYS[];
void ViewHelp_open(struct Screen *screen, uint64_t function);
void ViewHelp_show(struct Screen *screen, const struct Status *status);
bool ViewHelp_press(struct Screen *screen, int request, uint32_t key);

#endif
