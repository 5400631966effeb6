// SPDX-License-Identifier: MIT
// The callers view: callers and callees of one function, as a tree with shares.
// Any function in it can be unfolded, or become the one in the middle. One
// thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_CALLERS_H
#define OCULAR_TUI_VIEWS_VIEW_CALLERS_H

#include "tui/views/view.h"

// As a row of VIEWS.
extern const struct Binding VIEW_CALLERS_KEYS[];
void ViewCallers_open(struct Ui *ui, uint64_t function);
void ViewCallers_want(struct Ui *ui);
void ViewCallers_show(struct Ui *ui, const struct Status *status);
bool ViewCallers_press(struct Ui *ui, int request, uint32_t key);
bool ViewCallers_find(struct Ui *ui, int step, bool here);
uint64_t ViewCallers_function(const struct Ui *ui);
void ViewCallers_reset(struct Ui *ui);

#endif
