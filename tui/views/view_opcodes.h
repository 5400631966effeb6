// SPDX-License-Identifier: MIT
// The opcodes view: the live log of specialisation (which instruction changed
// to what, and when), the count of each kind of change, and the functions that
// specialise and deoptimise again and again. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_OPCODES_H
#define OCULAR_TUI_VIEWS_VIEW_OPCODES_H

#include "tui/views/view.h"

extern const struct View OPCODES_VIEW;

#endif
