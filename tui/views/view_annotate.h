// SPDX-License-Identifier: MIT
// The annotate view: one function's source and bytecode, what each instruction
// has become, how often it ran and what it took. It asks the process for the
// code of this function only. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_ANNOTATE_H
#define OCULAR_TUI_VIEWS_VIEW_ANNOTATE_H

#include "tui/views/view.h"

// As a row of VIEWS.
extern const struct Binding VIEW_ANNOTATE_KEYS[];
void ViewAnnotate_open(struct Ui *ui, uint64_t function);
void ViewAnnotate_want(struct Ui *ui);
void ViewAnnotate_show(struct Ui *ui, const struct Status *status);
bool ViewAnnotate_press(struct Ui *ui, int request, uint32_t key);
bool ViewAnnotate_find(struct Ui *ui, int step, bool here);
uint64_t ViewAnnotate_function(const struct Ui *ui);
void ViewAnnotate_reset(struct Ui *ui);
int ViewAnnotate_json(const struct Ui *ui, struct Bytes *out);

#endif
