// SPDX-License-Identifier: MIT
// The opcodes view: the live log of specialisation, that is which instruction
// became what and when, how often each change was seen, and which functions
// specialise and deoptimise again and again. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_OPCODES_H
#define OCULAR_TUI_VIEWS_VIEW_OPCODES_H

#include "tui/views/view.h"

// As a row of VIEWS.
extern const struct Binding VIEW_OPCODES_KEYS[];
void ViewOpcodes_show(struct Ui *ui, const struct Status *status);
bool ViewOpcodes_press(struct Ui *ui, int request, uint32_t key);
bool ViewOpcodes_find(struct Ui *ui, int step, bool here);
uint64_t ViewOpcodes_function(const struct Ui *ui);

#endif
