// SPDX-License-Identifier: MIT
// Callers and callees of one function, as a tree with shares. Any function in
// it can be unfolded, or become the one in the middle. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_CALLERS_H
#define OCULAR_TUI_VIEWS_VIEW_CALLERS_H

#include "tui/views/view.h"

// PERIOD_SINCE begins now, if the view is open, and it shows that.
void ViewCallers_reset(struct Ui *ui);

// As a row of VIEWS.
extern const struct Binding VIEW_CALLERS_KEYS[];
void ViewCallers_open(struct Ui *ui, uint64_t function);
// The stacks that windows are counted of come with this.
void ViewCallers_want(struct Ui *ui);
void ViewCallers_show(struct Ui *ui, const struct Status *status);
bool ViewCallers_press(struct Ui *ui, int request, uint32_t key);
bool ViewCallers_find(struct Ui *ui, int step, bool here);
uint64_t ViewCallers_function(const struct Ui *ui);

#endif
