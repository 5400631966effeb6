// SPDX-License-Identifier: MIT
// How often the opcodes view has counted each change. One thread.
#ifndef OCULAR_TUI_VIEWS_OPCODES_COUNTS_H
#define OCULAR_TUI_VIEWS_OPCODES_COUNTS_H

#include "tui/views/ui.h"

// As OpcodesLog_draw.
void OpcodesCounts_draw(struct Ui *ui, struct Box box);

#endif
