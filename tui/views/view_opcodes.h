// SPDX-License-Identifier: MIT
// The opcodes view shows the log of transitions (the instruction, its old and
// new opcode, and the time), the count of each kind of transition, and the
// storms (instructions that change again and again).
#ifndef OCULAR_TUI_VIEWS_VIEW_OPCODES_H
#define OCULAR_TUI_VIEWS_VIEW_OPCODES_H

#include "tui/views/view.h"

extern const struct View OPCODES_VIEW;

#endif
