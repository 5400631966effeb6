// SPDX-License-Identifier: MIT
// The help view: its keys, and which line of the page is the first. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_HELP_H
#define OCULAR_TUI_VIEWS_VIEW_HELP_H

#include "tui/views/view.h"

// As a row of VIEWS.
extern const struct Binding VIEW_HELP_KEYS[];
void ViewHelp_open(struct Ui *ui, uint64_t function);
void ViewHelp_show(struct Ui *ui, const struct Status *status);
bool ViewHelp_press(struct Ui *ui, int request, uint32_t key);

#endif
