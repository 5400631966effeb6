// SPDX-License-Identifier: MIT
// The opcodes view: the live log of specialisation, that is which instruction
// became what and when, how often each change was seen, and which functions
// specialise and deoptimise again and again. One thread.
#ifndef OCULAR_TUI_VIEWS_VIEW_OPCODES_H
#define OCULAR_TUI_VIEWS_VIEW_OPCODES_H

#include "tui/views/view.h"

extern const struct View OPCODES_VIEW;

#endif
