// SPDX-License-Identifier: MIT
// The opcodes view's own line: storms, how much is specialised, deopts. One
// thread.
#ifndef OCULAR_TUI_VIEWS_OPCODES_TITLE_H
#define OCULAR_TUI_VIEWS_OPCODES_TITLE_H

#include "tui/views/ui.h"

// There must be a snapshot.
void OpcodesTitle_draw(struct Ui *ui);

#endif
